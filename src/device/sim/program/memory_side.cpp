#include "device/sim/program/memory_side.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {
namespace {

/// Bits of all of the number above the lowest come into it, so that rows of a matrix do not all lie
/// in one partition or set (Dai 2016, section 7.1: the L2 has the XOR index, too).
std::uint64_t fold(std::uint64_t line) { return line ^ line >> 7 ^ line >> 13; }

}  // namespace

Sectors fetched_sectors(Sectors wanted, std::uint64_t fetch_bytes, std::uint64_t line_bytes) {
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

std::uint64_t bytes_of(Sectors sectors) {
  return static_cast<std::uint64_t>(std::popcount(sectors)) * smallest_sector_bytes;
}

MemorySide::MemorySide(const MemorySideModel& model, int sm_count)
    : model_(model),
      tags_(model.l2_sets * model.l2_ways),
      out_free_(static_cast<std::size_t>(sm_count)),
      in_free_(static_cast<std::size_t>(sm_count)),
      partitions_(model.partitions, Partition{.queue = Places(model.l2_queue_entries),
                                              .mshrs = Places(model.l2_mshrs),
                                              .banks = std::vector<Bank>(model.banks)}),
      counts_(static_cast<std::size_t>(sm_count)) {}

/// The way out of an SM is taken in order: a request that its partition has no room for holds up
/// those behind it.
double MemorySide::leave(int sm, const Partition& partition, double time, double cycles) {
  double& free = out_free_[static_cast<std::size_t>(sm)];
  const double sent = std::max({time, free, partition.queue.room_at()});
  free = sent + cycles;
  return sent;
}

double MemorySide::load(int sm, double time, std::uint64_t line, Sectors sectors) {
  const auto at = static_cast<std::size_t>(sm);
  const Partition& partition = partitions_[fold(line) % model_.partitions];
  const double sent = leave(sm, partition, time, model_.request_cycles);
  const double ready = touch(sm, sent, line, sectors, false);
  // Data return in the order of the requests, as if all came from the L2: what comes late from DRAM
  // does not hold up what hit behind it.
  const double transfer = model_.request_cycles +
                          static_cast<double>(bytes_of(sectors)) / model_.return_bytes_per_cycle;
  in_free_[at] = std::max(in_free_[at], sent) + transfer;
  return std::max(ready, in_free_[at] + model_.l2_cycles - transfer);
}

void MemorySide::store(int sm, double time, std::uint64_t line, Sectors sectors) {
  const Partition& partition = partitions_[fold(line) % model_.partitions];
  const double data = static_cast<double>(bytes_of(sectors)) / model_.sm_bytes_per_cycle;
  touch(sm, leave(sm, partition, time, model_.request_cycles + data), line, sectors, true);
}

double MemorySide::touch(int sm, double time, std::uint64_t line, Sectors sectors, bool store) {
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
  if (store) {  // brings what it writes; the rest of the line stays behind
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

/// A partition whose MSHRs are all in use stands still.
double MemorySide::miss(int sm, Partition& partition, double time, std::uint64_t line,
                        Sectors sectors) {
  ++counts_[static_cast<std::size_t>(sm)].dram_requests;
  const double begin = std::max(time, partition.mshrs.room_at());
  partition.port_free = std::max(partition.port_free, begin);
  partition.queue.take(begin);
  const double filled = use_dram(partition, begin, line, bytes_of(sectors));
  partition.mshrs.take(filled);
  return filled;
}

/// The same for what is written back: the channel is busy as long. @return when data would be there
double MemorySide::use_dram(Partition& partition, double time, std::uint64_t line,
                            std::uint64_t bytes) {
  const double begin = std::max(time, partition.channel_free);
  partition.channel_free = begin + static_cast<double>(bytes) / model_.channel_bytes_per_cycle;
  if (partition.banks.empty()) return begin + model_.dram_cycles;
  const std::uint64_t row = line * model_.line_bytes / (model_.row_bytes * model_.partitions);
  // Rows of equal distance to each other must not all lie in one bank: upper bits come into it.
  Bank& bank = partition.banks[(row ^ row >> 4 ^ row >> 9) % partition.banks.size()];
  return std::max(begin, open_row(bank, time, row)) + model_.dram_cycles;
}

/// Requests to an open row go before those that need another one (FR-FCFS): a request joins those
/// to its row if that is the last that the bank opened, or the next one is not open yet.
/// @return when the row is open
double MemorySide::open_row(Bank& bank, double time, std::uint64_t row) const {
  const std::size_t count = bank.rows.size();
  double next_opened = time + 1;
  for (std::size_t back = 0; back < count && next_opened > time; ++back) {
    const Row& known = bank.rows[(bank.last + count - back) % count];
    if (known.row == row) return known.opened;
    next_opened = known.opened;
  }
  // The unloaded latency holds one opening; the bank is not ready for another before row_cycles.
  const double opened = std::max(time, bank.rows[bank.last].opened + model_.row_cycles);
  bank.last = (bank.last + 1) % count;
  bank.rows[bank.last] = {.row = row, .opened = opened};
  return opened;
}

}  // namespace sonde::sim
