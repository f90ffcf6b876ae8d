// Reads any span of devices of a run file or shard, so that a merge needs one in memory at a time.
#pragma once

#include "analysis/results.hpp"
#include "store/bound_columns.hpp"
#include "store/hdf5.hpp"
#include "store/shard.hpp"

#include <filesystem>
#include <vector>

namespace sonde {

/// An open file of the current schema. Every function throws StoreError, naming the file, if what
/// it should read is missing or contradicts itself.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path);

  const Provenance& provenance() const { return provenance_; }
  std::uint64_t device_count() const { return device_count_; }
  std::vector<UnauditedDevice> read_unaudited() const;
  /// Devices without their jobs.
  std::vector<DeviceResult> read_inventory() const;
  std::vector<DeviceResult> read_devices(RowRange span, WithTraces traces) const;

 private:
  std::filesystem::path path_;
  hdf5::Handle file_;
  Provenance provenance_;
  std::uint64_t device_count_ = 0;
};

}  // namespace sonde
