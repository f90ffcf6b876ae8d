#include "device/sim/program/memory_side.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace sonde::sim {
namespace {

/// A request without data, or the head of one with data: one flit of the network (GPGPU-Sim's
/// default for Fermi, 32 bytes a channel: Dai 2016, table 1).
constexpr double request_bytes = 8;

/// Bits of all of the number above the lowest come into it, so that rows of a matrix do not all lie
/// in one partition or set.
std::uint64_t fold(std::uint64_t line) { return line ^ line >> 7 ^ line >> 13; }

}  // namespace

void MemorySide::FreeTags::operator()(Tag* tags) const { std::free(tags); }

MemorySide::MemorySide(const MemorySideModel& model, int sm_count)
    : model_(model),
      out_free_(static_cast<std::size_t>(sm_count)),
      in_free_(static_cast<std::size_t>(sm_count)),
      partition_free_(model.partitions),
      channels_(model.partitions),
      counts_(static_cast<std::size_t>(sm_count)) {
  // The system hands out zeros page by page: a large L2 of which little is used costs little.
  static_assert(std::is_trivially_default_constructible_v<Tag>);
  tags_.reset(static_cast<Tag*>(std::calloc(model.l2_sets * model.l2_ways, sizeof(Tag))));
  if (!tags_) throw std::bad_alloc();
}

double MemorySide::load(int sm, double time, std::uint64_t line, std::uint64_t bytes) {
  const auto at = static_cast<std::size_t>(sm);
  ++counts_[at].l2_requests;
  const double sent = std::max(time, out_free_[at]);
  out_free_[at] = sent + request_bytes / model_.sm_bytes_per_cycle;
  const double ready = touch(sm, sent, line, bytes, false);
  // The network to the SM is taken in the order of the requests, as if all data came from the L2:
  // what comes late from DRAM does not hold up what hit behind it.
  const double transfer = static_cast<double>(bytes) / model_.sm_bytes_per_cycle;
  in_free_[at] = std::max(in_free_[at], sent) + transfer;
  return std::max(ready, in_free_[at] + model_.l2_cycles - transfer);
}

void MemorySide::store(int sm, double time, std::uint64_t line, std::uint64_t bytes) {
  const auto at = static_cast<std::size_t>(sm);
  ++counts_[at].l2_requests;
  const double sent = std::max(time, out_free_[at]);
  out_free_[at] = sent + (request_bytes + static_cast<double>(bytes)) / model_.sm_bytes_per_cycle;
  touch(sm, sent, line, bytes, true);
}

double MemorySide::touch(int sm, double time, std::uint64_t line, std::uint64_t bytes, bool store) {
  const std::uint64_t folded = fold(line);
  const auto partition = static_cast<std::size_t>(folded % model_.partitions);
  const std::uint64_t set = folded % model_.l2_sets;
  double& port = partition_free_[partition];
  const double served = std::max(time, port);
  port = served + static_cast<double>(bytes) / model_.partition_bytes_per_cycle;
  Tag* const first = &tags_[set * model_.l2_ways];
  Tag* const last = first + model_.l2_ways;
  const std::uint64_t wanted = (line + 1) * 2;
  Tag* victim = first;
  for (Tag* tag = first; tag != last; ++tag) {
    if ((tag->line_and_dirty | 1) == (wanted | 1)) {
      tag->used = ++accesses_;
      if (store) tag->line_and_dirty |= 1;
      return std::max(served + model_.l2_cycles, tag->filled);
    }
    if (tag->used < victim->used) victim = tag;
  }
  if ((victim->line_and_dirty & 1) != 0) {
    read_dram(partition, served, victim->line_and_dirty / 2 - 1, model_.line_bytes);
  }
  *victim = {.line_and_dirty = wanted | (store ? 1u : 0u), .used = ++accesses_, .filled = served};
  // A store brings what it writes; the rest of the line stays behind.
  if (store) return served;
  ++counts_[static_cast<std::size_t>(sm)].dram_requests;
  victim->filled = read_dram(partition, served, line, bytes);
  return victim->filled;
}

/// The same for what is written back: the channel is busy as long.
double MemorySide::read_dram(std::size_t partition, double time, std::uint64_t line,
                             std::uint64_t bytes) {
  Channel& channel = channels_[partition];
  const std::uint64_t row = line * model_.line_bytes / (model_.row_bytes * model_.partitions);
  const double begin = std::max(time, channel.free);
  // The rows of several banks are open at once and requests to an open one go first (FR-FCFS): the
  // next row opens while the last one is read, and takes time of the channel only beyond that.
  channel.free = begin + static_cast<double>(bytes) / model_.channel_bytes_per_cycle +
                 (row == channel.row ? 0 : model_.row_cycles);
  channel.row = row;
  return begin + model_.dram_cycles;
}

}  // namespace sonde::sim
