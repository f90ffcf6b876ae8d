// The memory side of programs, behind the L1s: the network, the partitions of the L2, and DRAM. A
// call returns the time at which its data come; requests must come in the order of their times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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

/// The sectors that a miss of `wanted` brings: whole blocks of `fetch_bytes` of a line.
inline Sectors fetched_sectors(Sectors wanted, std::uint64_t fetch_bytes,
                               std::uint64_t line_bytes) {
  const auto in_block = static_cast<int>(fetch_bytes / smallest_sector_bytes);
  const auto in_line = static_cast<int>(line_bytes / smallest_sector_bytes);
  if (in_block <= 1) return wanted;
  Sectors fetched = 0;
  for (int first = 0; first < in_line; first += in_block) {
    const Sectors block = (in_block >= 32 ? ~0u : (1u << in_block) - 1) << first;
    if ((wanted & block) != 0) fetched |= block;
  }
  return fetched;
}

inline std::uint64_t bytes_of(Sectors sectors) {
  return static_cast<std::uint64_t>(std::popcount(sectors)) * smallest_sector_bytes;
}

/// Entries of a queue, or MSHRs, which are released in the order in which they are taken.
class Places {
 public:
  /// @param count 0: there is always room
  explicit Places(std::size_t count) : free_again_(count, 0) {}

  /// When there is room for one more.
  double room_at() const { return free_again_.empty() ? 0 : free_again_[next_]; }

  /// @pre room_at() has come  @param until when the entry is released
  void take(double until) {
    if (free_again_.empty()) return;
    free_again_[next_] = until;
    if (++next_ == free_again_.size()) next_ = 0;
  }

 private:
  std::vector<double> free_again_;
  std::size_t next_ = 0;
};

/// The memory side of a GPU, or one SM's share of it.
struct MemorySideModel {
  std::uint64_t line_bytes = 128;
  std::uint64_t l2_sets = 1;  // of all partitions
  std::uint32_t l2_ways = 1;
  std::uint64_t l2_fetch_bytes = 128;
  std::uint32_t partitions = 1;           // of the L2, each with a channel of DRAM
  std::uint32_t l2_mshrs = 0;             // of a partition; 0: any number
  std::uint32_t l2_queue_entries = 0;     // requests that wait for a partition; 0: any number
  double request_cycles = 1;              // of a request, or the head of data, on an SM's way out
  double sm_bytes_per_cycle = 32;         // of an SM's way out, for data
  double return_bytes_per_cycle = 32;     // of the way into an SM
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
  MemorySide(const MemorySideModel& model, int sm_count)
      : model_(model),
        tags_(model.l2_sets * model.l2_ways),
        out_free_(static_cast<std::size_t>(sm_count)),
        in_free_(static_cast<std::size_t>(sm_count)),
        partitions_(model.partitions, Partition{.queue = Places(model.l2_queue_entries),
                                                .mshrs = Places(model.l2_mshrs),
                                                .banks = std::vector<Bank>(model.banks)}),
        counts_(static_cast<std::size_t>(sm_count)) {}

  /// A load of some sectors of a line that leaves the SM at `time` or later.
  /// @return when the data have come
  double load(int sm, double time, std::uint64_t line, Sectors sectors) {
    const auto at = static_cast<std::size_t>(sm);
    const Partition& partition = partitions_[fold(line) % model_.partitions];
    const double sent = leave(sm, partition, time, model_.request_cycles);
    const double ready = touch(sm, sent, line, sectors, false);
    // Data return in the order of the requests, as if all came from the L2: late data from DRAM do
    // not delay later hits.
    const double transfer = model_.request_cycles +
                            static_cast<double>(bytes_of(sectors)) / model_.return_bytes_per_cycle;
    in_free_[at] = std::max(in_free_[at], sent) + transfer;
    return std::max(ready, in_free_[at] + model_.l2_cycles - transfer);
  }

  /// Sends stored data to the L2, which keeps their lines (write back, write allocate).
  void store(int sm, double time, std::uint64_t line, Sectors sectors) {
    const Partition& partition = partitions_[fold(line) % model_.partitions];
    const double data = static_cast<double>(bytes_of(sectors)) / model_.sm_bytes_per_cycle;
    touch(sm, leave(sm, partition, time, model_.request_cycles + data), line, sectors, true);
  }

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
  /// Mixes upper bits of the line number into the lower ones, so that the rows of a matrix do not
  /// all lie in one partition or set (Dai 2016, section 7.1: the L2 has the XOR index, too).
  static std::uint64_t fold(std::uint64_t line) { return line ^ line >> 7 ^ line >> 13; }

  struct Row {
    std::uint64_t row = ~std::uint64_t{0};
    double opened = -std::numeric_limits<double>::infinity();
  };
  /// The last rows that a bank opened or will open; `rows[last]` is the latest.
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

  /// Requests leave an SM in order: a request for which its partition has no room delays those
  /// behind it. @return when it leaves
  double leave(int sm, const Partition& partition, double time, double cycles) {
    double& free = out_free_[static_cast<std::size_t>(sm)];
    const double sent = std::max({time, free, partition.queue.room_at()});
    free = sent + cycles;
    return sent;
  }
  /// Brings the sectors into the L2. @return when their data are there
  double touch(int sm, double time, std::uint64_t line, Sectors sectors, bool store) {
    ++counts_[static_cast<std::size_t>(sm)].l2_requests;
    const std::uint64_t folded = fold(line);
    Partition& partition = partitions_[folded % model_.partitions];
    const double served = std::max(time, partition.port_free);
    partition.port_free =
        served + static_cast<double>(bytes_of(sectors)) / model_.partition_bytes_per_cycle;
    Tag* const first = &tags_[folded % model_.l2_sets * model_.l2_ways];
    Tag* const last = first + model_.l2_ways;
    const std::uint64_t wanted = (line + 1) * 2;
    Tag* tag = first;
    for (Tag* other = first; other != last; ++other) {
      if ((other->line_and_dirty | 1) == (wanted | 1)) {
        tag = other;
        break;
      }
      if (other->used < tag->used) tag = other;
    }
    if ((tag->line_and_dirty | 1) != (wanted | 1)) {
      if ((tag->line_and_dirty & 1) != 0) {
        use_dram(partition, served, tag->line_and_dirty / 2 - 1, bytes_of(tag->sectors));
      }
      *tag = {.line_and_dirty = wanted};
    }
    tag->used = ++accesses_;
    const Sectors missing = sectors & ~tag->sectors;
    if (store) {  // only the stored sectors become valid
      tag->line_and_dirty |= 1;
      tag->sectors |= sectors;
      partition.queue.take(served);
      return served;
    }
    if (missing != 0) {
      const Sectors fetched = fetched_sectors(missing, model_.l2_fetch_bytes, model_.line_bytes);
      tag->sectors |= fetched;
      tag->filled = std::max(tag->filled, miss(sm, partition, served, line, fetched));
      return tag->filled;
    }
    partition.queue.take(served);
    return std::max(served + model_.l2_cycles, tag->filled);
  }
  /// A partition whose MSHRs are all in use waits for one.
  double miss(int sm, Partition& partition, double time, std::uint64_t line, Sectors sectors) {
    ++counts_[static_cast<std::size_t>(sm)].dram_requests;
    const double begin = std::max(time, partition.mshrs.room_at());
    partition.port_free = std::max(partition.port_free, begin);
    partition.queue.take(begin);
    const double filled = use_dram(partition, begin, line, bytes_of(sectors));
    partition.mshrs.take(filled);
    return filled;
  }
  /// Reads or writes back a part of a line; both occupy the channel alike. @return when data come
  double use_dram(Partition& partition, double time, std::uint64_t line, std::uint64_t bytes) {
    const double begin = std::max(time, partition.channel_free);
    partition.channel_free = begin + static_cast<double>(bytes) / model_.channel_bytes_per_cycle;
    if (partition.banks.empty()) return begin + model_.dram_cycles;
    const std::uint64_t row = line * model_.line_bytes / (model_.row_bytes * model_.partitions);
    // Mixes in upper bits, so that rows of equal distances do not all lie in one bank.
    Bank& bank = partition.banks[(row ^ row >> 4 ^ row >> 9) % partition.banks.size()];
    return std::max(begin, open_row(bank, time, row)) + model_.dram_cycles;
  }
  /// Requests to an open row go first (FR-FCFS): a request joins its row if that is the latest of
  /// the bank, or the row after it is not open yet. @return when the row is open
  double open_row(Bank& bank, double time, std::uint64_t row) const {
    const std::size_t count = bank.rows.size();
    double next_opened = time + 1;
    for (std::size_t back = 0; back < count && next_opened > time; ++back) {
      const Row& known = bank.rows[(bank.last + count - back) % count];
      if (known.row == row) return known.opened;
      next_opened = known.opened;
    }
    // The unloaded latency includes one opening; the next opening must wait row_cycles.
    const double opened = std::max(time, bank.rows[bank.last].opened + model_.row_cycles);
    bank.last = (bank.last + 1) % count;
    bank.rows[bank.last] = {.row = row, .opened = opened};
    return opened;
  }

  MemorySideModel model_;
  std::vector<Tag> tags_;
  std::vector<double> out_free_;  // by SM: when the network from it is free
  std::vector<double> in_free_;   // by SM: when the network to it is free
  std::vector<Partition> partitions_;
  std::vector<MemoryCounts> counts_;  // by SM
  std::uint64_t accesses_ = 0;
};

}  // namespace sonde::sim
