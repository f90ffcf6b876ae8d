// How HDF5 keeps a column: its type in the file, its size, its chunks and their filters.
#pragma once

#include "store/hdf5/chunks.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde {

hdf5::Handle file_type(ElementType type, std::size_t element_bytes);

hdf5::Handle make_space(std::uint64_t rows);

/// For a dataset to which nothing is ever written, so that it takes no room in the file.
hdf5::Handle bare_layout();

/// What the chunks of a column go through.
ChunkFilters chunk_filters(const TablePlan& table, std::size_t column);

/// Of a column that is to be created with that type.
hdf5::Handle column_layout(const TablePlan& table, std::size_t column, hid_t type);

}  // namespace sonde
