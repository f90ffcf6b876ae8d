// What lies behind the L1s: the network, the partitions of the L2, and DRAM. A request is answered
// at once with the time at which its data come; requests must come in the order of their times.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::sim {

inline constexpr std::uint64_t smallest_sector_bytes = 32;

/// Some 32-byte sectors of a line: a bit each.
using Sectors = std::uint32_t;

struct LineAccess {
  std::uint64_t line = 0;  // address / line_bytes
  Sectors sectors = 0;
};

/// Those that a miss of `wanted` brings: blocks of `fetch_bytes` of a line of `line_bytes`.
Sectors fetched_sectors(Sectors wanted, std::uint64_t fetch_bytes, std::uint64_t line_bytes);

std::uint64_t bytes_of(Sectors sectors);

/// Entries of a queue, or of MSHRs, that are taken and given back in the same order.
class Places {
 public:
  /// @param count 0: there is always room
  explicit Places(std::size_t count) : free_again_(count, 0) {}

  /// From when on there is room for one more.
  double room_at() const { return free_again_.empty() ? 0 : free_again_[next_]; }

  /// @pre room_at() has come  @param until when the place is given back
  void take(double until) {
    if (free_again_.empty()) return;
    free_again_[next_] = until;
    if (++next_ == free_again_.size()) next_ = 0;
  }

 private:
  std::vector<double> free_again_;
  std::size_t next_ = 0;
};

/// What the memory side is, of a GPU or of one SM's share of it.
struct MemorySideModel {
  std::uint64_t line_bytes = 128;
  std::uint64_t l2_sets = 1;  // of all partitions
  std::uint32_t l2_ways = 1;
  std::uint64_t l2_fetch_bytes = 128;
  std::uint32_t partitions = 1;           // of the L2, each with a channel of DRAM
  std::uint32_t l2_mshrs = 0;             // of a partition; 0: never all in use
  std::uint32_t l2_queue_entries = 0;     // requests that wait for a partition; 0: any number
  double request_cycles = 1;              // of an SM's way out for a request, or the head of data
  double sm_bytes_per_cycle = 32;         // of that way for data
  double return_bytes_per_cycle = 32;     // and of the one by which data return
  double partition_bytes_per_cycle = 32;  // of the L2
  double channel_bytes_per_cycle = 8;     // of DRAM
  std::uint64_t row_bytes = 2048;         // of DRAM, in each channel
  std::uint32_t banks = 0;                // of a channel; 0: rows are always open
  double row_cycles = 0;                  // from one row of a bank to the next
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

  /// A load of some sectors of a line that leaves the SM at `time` or later.
  /// @return when the data have come
  double load(int sm, double time, std::uint64_t line, Sectors sectors);

  /// Data on their way to the L2, which keeps lines that are stored to (write back, write
  /// allocate).
  void store(int sm, double time, std::uint64_t line, Sectors sectors);

  /// When the last request of the SM has left it.
  double free_time(int sm) const { return out_free_[static_cast<std::size_t>(sm)]; }

  const MemoryCounts& counts(int sm) const { return counts_[static_cast<std::size_t>(sm)]; }

 private:
  /// A line of the L2; all zero: none.
  struct Tag {
    std::uint64_t line_and_dirty = 0;  // (line + 1) * 2, plus 1 if it must be written back
    std::uint64_t used = 0;            // number of the access that used it last
    double filled = 0;                 // when its data are there
    Sectors sectors = 0;
  };
  struct Row {
    std::uint64_t row = ~std::uint64_t{0};
    double opened = -std::numeric_limits<double>::infinity();
  };
  /// Rows that a bank opened or will open, the last of them `rows[last]`.
  struct Bank {
    std::array<Row, 8> rows;
    std::size_t last = 0;
  };
  struct Partition {
    double port_free = 0;
    double channel_free = 0;
    Places queue;
    Places mshrs;
    std::vector<Bank> banks;
  };

  double leave(int sm, const Partition& partition, double time, double cycles);
  /// The sectors are in the L2 from now on. @return when their data are there
  double touch(int sm, double time, std::uint64_t line, Sectors sectors, bool store);
  double miss(int sm, Partition& partition, double time, std::uint64_t line, Sectors sectors);
  double use_dram(Partition& partition, double time, std::uint64_t line, std::uint64_t bytes);
  double open_row(Bank& bank, double time, std::uint64_t row) const;

  MemorySideModel model_;
  std::vector<Tag> tags_;
  std::vector<double> out_free_;  // network from each SM
  std::vector<double> in_free_;   // and to it
  std::vector<Partition> partitions_;
  std::vector<MemoryCounts> counts_;  // by SM
  std::uint64_t accesses_ = 0;
};

}  // namespace sonde::sim
