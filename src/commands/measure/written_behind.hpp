// Writes a job's result into the shard while the next job is measured.
#pragma once

#include "store/shard.hpp"

#include <future>
#include <utility>

namespace sonde {

/// Only one thread at a time writes into the shard, since HDF5 does not allow two. Whoever needs
/// the shard waits for that write.
class WrittenBehind {
 public:
  explicit WrittenBehind(Shard shard) : shard_(std::move(shard)) {}

  /// @throws StoreError if an earlier result could not be written
  void append(JobResult result);

  /// The shard with everything that was appended. @throws StoreError if a write failed
  Shard& get();

 private:
  Shard shard_;
  std::future<void> writing_;  // declared after the shard, so its destructor waits first
};

}  // namespace sonde
