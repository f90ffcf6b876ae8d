// Columns that need not be unpacked on their way from a shard into a run file: plan.hpp says which.
#pragma once

#include "store/plan.hpp"

#include <hdf5.h>

#include <cstddef>

namespace sonde {

/// Copies the chunks of one part from its shard, packed as they are, to where the plan puts them:
/// they keep the checksums that they got when they were measured, by which a reader finds damage.
/// One process alone.
/// @throws StoreError if the shard lacks one
void copy_chunks(hid_t file, const FilePlan& plan, std::size_t part);

}  // namespace sonde
