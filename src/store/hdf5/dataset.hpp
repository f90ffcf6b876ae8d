// Datasets of a file that anyone may have made: what they claim is checked before it is believed.
#pragma once

#include "store/hdf5/chunks.hpp"
#include "store/hdf5/hdf5.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// One that is open, and how it was created: filters, chunks and the value that is filled in.
struct Dataset {
  hdf5::Handle id;
  hdf5::Handle creation;
  operator hid_t() const { return id; }
};

/// Opens a dataset whose values lie in this file and nowhere else, through filters that sonde
/// itself uses: HDF5 would follow links into other files, and load filters as plugins.
/// @throws StoreError naming the dataset
Dataset open_dataset(hid_t file, const std::string& path);

/// The same of a member of a group that is open. @param group_path ends with `/`
Dataset open_member(hid_t group, const std::string& group_path, const std::string& name);
/// Nothing if there is none.
std::optional<Dataset> find_member(hid_t group, const std::string& group_path,
                                   const std::string& name);

/// @throws StoreError unless it has exactly one dimension
std::uint64_t extent_of(hid_t dataset, const std::string& path);

/// Checks that all these elements are there, and can come from a file of this size: reading them
/// takes no more memory than some multiple of it. @throws StoreError
void require_whole(const Dataset& dataset, const std::string& path, std::uint64_t rows,
                   std::size_t element_bytes);

bool is_chunked(const Dataset& dataset);

/// The chunk that begins with that row, packed as it is. @throws StoreError if it is not there
std::vector<std::uint8_t> read_chunk(const Dataset& dataset, const std::string& path,
                                     std::uint64_t row);

/// The chunks that hold some rows. @pre is_chunked, require_whole
PackedChunks read_chunks(const Dataset& dataset, const std::string& path, ElementType type,
                         std::size_t element_bytes, RowRange rows);

/// Rows of each chunk, if they went through the filters, in their order, that sonde gives numbers
/// of more than one byte; else 0.
std::uint64_t read_chunk_rows(const Dataset& dataset, const std::string& path);

/// The value of all elements, if the file keeps only that: there are no chunks, and the value that
/// HDF5 fills in was chosen. Else empty. @param type of the dataset
std::vector<std::uint8_t> read_constant(const Dataset& dataset, hid_t type,
                                        const std::string& path);

}  // namespace sonde
