// What lies behind the L1s: the network, the partitions of the L2, and DRAM. A request is answered
// at once with the time at which its data come; requests must come in the order of their times.
#pragma once

#include "device/sim/model/model.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sonde::sim {

/// What the memory side is, of a GPU or of one SM's share of it.
struct MemorySideModel {
  std::uint64_t line_bytes = 128;
  std::uint64_t l2_sets = 1;  // of all partitions
  std::uint32_t l2_ways = 1;
  std::uint32_t partitions = 1;           // of the L2, each with a channel of DRAM
  double sm_bytes_per_cycle = 32;         // of the network, each way, for one SM
  double partition_bytes_per_cycle = 32;  // of the L2
  double channel_bytes_per_cycle = 8;     // of DRAM
  std::uint64_t row_bytes = 2048;         // of DRAM, in each channel
  double row_cycles = 0;                  // to open another one
  double l2_cycles = 0;                   // unloaded, from the request to its data
  double dram_cycles = 0;
};

struct MemoryCounts {
  std::uint64_t l2_requests = 0;
  std::uint64_t dram_requests = 0;
};

class MemorySide {
 public:
  MemorySide(const MemorySideModel& model, int sm_count);

  /// A load of `bytes` of a line that leaves the SM at `time` or later.
  /// @return when the data have come
  double load(int sm, double time, std::uint64_t line, std::uint64_t bytes);

  /// Data on their way to the L2, which keeps lines that are stored to (write back, write
  /// allocate).
  void store(int sm, double time, std::uint64_t line, std::uint64_t bytes);

  /// When a request of the SM would leave it.
  double free_time(int sm) const { return out_free_[static_cast<std::size_t>(sm)]; }

  const MemoryCounts& counts(int sm) const { return counts_[static_cast<std::size_t>(sm)]; }

 private:
  /// A line of the L2; all zero: none.
  struct Tag {
    std::uint64_t line_and_dirty;  // (line + 1) * 2, plus 1 if it must be written back
    std::uint64_t used;            // number of the access that used it last
    double filled;                 // when its data are there
  };
  struct Channel {
    double free = 0;
    std::uint64_t row = ~std::uint64_t{0};
  };
  struct FreeTags {
    void operator()(Tag* tags) const;
  };

  /// The line is in the L2 from now on. @return when its data are there
  double touch(int sm, double time, std::uint64_t line, std::uint64_t bytes, bool store);
  double read_dram(std::size_t partition, double time, std::uint64_t line, std::uint64_t bytes);

  MemorySideModel model_;
  std::unique_ptr<Tag[], FreeTags> tags_;
  std::vector<double> out_free_;        // network from each SM
  std::vector<double> in_free_;         // and to it
  std::vector<double> partition_free_;  // ports of the L2
  std::vector<Channel> channels_;
  std::vector<MemoryCounts> counts_;  // by SM
  std::uint64_t accesses_ = 0;
};

}  // namespace sonde::sim
