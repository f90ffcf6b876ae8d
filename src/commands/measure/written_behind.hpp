// A shard that is written into while the next job is measured.
#pragma once

#include "store/shard.hpp"

#include <future>
#include <utility>

namespace sonde {

/// One thread at a time writes into the shard: a job with long records while the next one is
/// measured. HDF5 bears no two threads, so whoever needs the shard waits for that write.
class WrittenBehind {
 public:
  explicit WrittenBehind(Shard shard) : shard_(std::move(shard)) {}

  /// @throws StoreError if a job before could not be written
  void append(JobResult result);

  /// All that was appended is in the shard. @throws StoreError if it is not
  Shard& get();

 private:
  Shard shard_;
  std::future<void> writing_;  // after the shard: it ends first
};

}  // namespace sonde
