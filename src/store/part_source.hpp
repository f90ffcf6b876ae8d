// What one rank, or one source of a merge, puts into a file, column by column, so that no more
// than one column of its traces need be in memory.
#pragma once

#include "store/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace sonde {

/// A part of a file to be written.
struct PartSource {
  PartShape shape;
  ColumnLoader load;
  /// Whether what its rows refer to is sound: to be called before any of them is loaded. Calls
  /// nothing of HDF5, so that it may run in another thread. @throws StoreError
  std::function<void()> check = [] {};
  /// `load` calls nothing of HDF5 either: what its file holds is in memory, still packed.
  bool is_kept = false;
};

/// A part in memory. @throws Error if a job occurs twice
PartSource part_in_memory(const DeviceResult& device, std::vector<UnauditedDevice> unaudited);

/// The same part, whose device was measured at this point of the run.
PartSource at_point(PartSource part, std::uint64_t point_index);

/// A part without a device.
PartSource part_without_device(std::vector<UnauditedDevice> unaudited);

/// Devices of a file with tables for each job that are one part at most: their findings are in
/// memory together.
constexpr std::uint64_t most_devices_by_job = 64;

/// Devices of a run file or shard, one after the other in it. The file is read now for its shape
/// and opened again when a column is loaded, so that a merge holds one of its files open at a time.
/// @throws StoreError if the file cannot be read, now or when a column is loaded
PartSource part_of_file(const std::filesystem::path& path, RowRange devices);

/// Who wrote a file. What this run itself wrote may be damaged, which checksums tell, but is not
/// made to do damage.
enum class Writer { anyone, this_run };

/// The device of a shard, finished or not, read when it is asked for.
/// @throws StoreError if the shard cannot be read or does not hold one device, now or when a column
/// is loaded
PartSource part_of_shard(const std::filesystem::path& shard,
                         const std::vector<UnauditedDevice>& unaudited,
                         Writer writer = Writer::anyone);

}  // namespace sonde
