// The load-store unit of one SM under congestion.
#include "device/sim/cores/lsu.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace sonde::sim {

Lsu::Lsu(const LsuModel& model, const LsuSurroundings& around, const CacheModel* l1,
         const Geometry* l1_geometry, const CacheModel* l2, std::uint64_t seed)
    : model_(model), around_(around) {
  if (l1 != nullptr) {
    l1_ = std::make_unique<CacheArray>(*l1, *l1_geometry);
    l1_->clear(derive_seed(seed, "l1"));
    line_bytes_ = l1->line_bytes;
    fetch_bytes_ = l1->fetch_bytes;
  }
  if (l2 != nullptr) {
    l2_ = std::make_unique<CacheArray>(*l2, l2->geometries.front());
    l2_->clear(derive_seed(seed, "l2"));
  }
}

double Lsu::load(double time, LoadKind kind, const std::vector<std::uint64_t>& addresses) {
  const bool through = kind == LoadKind::through_l1 && l1_;
  const std::uint64_t block_bytes = through ? fetch_bytes_ : model_.bypass_fetch_bytes;
  // Coalescing: the threads' words become one transaction for each line, of the blocks touched.
  std::map<std::uint64_t, std::uint64_t> lines;
  for (std::uint64_t address : addresses) {
    const std::uint64_t block = address % line_bytes_ / std::min(block_bytes, line_bytes_);
    lines[address / line_bytes_] |= std::uint64_t{1} << block;
  }
  now_ = std::max(now_, time);
  double done = now_;
  for (const auto& [line, blocks] : lines) {
    double ready = 0;
    if (through) {
      ready = load_line(line, blocks);
    } else {
      const auto count = static_cast<std::uint64_t>(std::popcount(blocks));
      ready = request(line * line_bytes_, count * std::min(block_bytes, line_bytes_),
                      around_.bypass_l2_cycles, around_.bypass_dram_cycles);
    }
    done = std::max(done, ready);
    now_ += 1;
  }
  return done;
}

/// Waits in the pipeline until line, MSHR and miss queue entry are to be had, one cycle or many.
double Lsu::load_line(std::uint64_t line, std::uint64_t blocks) {
  retire();
  if (const auto miss = misses_.find(line); miss != misses_.end()) {
    if (miss->second.waiting < model_.mshr_merges) {
      ++miss->second.waiting;
      return std::max(miss->second.filled, now_ + around_.l1_hit_cycles);
    }
    stall_until(miss->second.filled);
  }
  const std::uint64_t missing_bytes = count_missing(line, blocks);
  if (missing_bytes == 0) {
    touch(line, blocks);
    return now_ + around_.l1_hit_cycles;
  }
  const std::uint32_t set = l1_->set_of(line * line_bytes_);
  while (misses_.size() >= model_.mshrs || pending_[set] >= l1_->ways_of(set)) {
    stall_until(fills_.top().first);
  }
  while (miss_queue_.size() >= model_.miss_queue_entries) stall_until(miss_queue_.front());
  touch(line, blocks);
  const double filled =
      request(line * line_bytes_, missing_bytes, around_.l2_hit_cycles, around_.dram_cycles);
  miss_queue_.push(request_begin_);
  misses_[line] = {.filled = filled, .waiting = 1, .set = set};
  ++pending_[set];
  fills_.emplace(filled, line);
  return filled;
}

/// Over the network to the L2, on to DRAM if it has to be, and back.
double Lsu::request(std::uint64_t address, std::uint64_t bytes, double l2_cycles,
                    double dram_cycles) {
  const auto size = static_cast<double>(bytes);
  request_free_ = std::max(request_free_, now_) + model_.request_cycles;
  request_begin_ = std::max(request_free_, l2_free_);
  l2_free_ = request_begin_ + size / around_.l2_bytes_per_cycle;
  bool hit = l2_ != nullptr;
  const std::uint64_t step = hit ? l2_->fetch_bytes() : bytes;
  for (std::uint64_t at = address; hit && at < address + bytes; at += step) {
    hit = l2_->access(at) && hit;
  }
  double arrived = request_begin_ + l2_cycles;
  if (!hit) {
    dram_free_ = std::max(dram_free_, request_begin_) + size / around_.dram_bytes_per_cycle;
    arrived = std::max(request_begin_ + dram_cycles, dram_free_ + dram_cycles - l2_cycles);
  }
  // The unloaded latency holds one transfer; more of them queue for the return.
  const double transfer = size / model_.return_bytes_per_cycle;
  return_free_ = std::max(return_free_ + transfer, arrived);
  return return_free_;
}

std::uint64_t Lsu::count_missing(std::uint64_t line, std::uint64_t blocks) const {
  std::uint64_t missing = 0;
  for (std::uint64_t block = 0; block * fetch_bytes_ < line_bytes_; ++block) {
    const bool wanted = (blocks >> block & 1) != 0;
    if (wanted && !l1_->contains(line * line_bytes_ + block * fetch_bytes_)) ++missing;
  }
  return missing * fetch_bytes_;
}

void Lsu::touch(std::uint64_t line, std::uint64_t blocks) {
  for (std::uint64_t block = 0; block * fetch_bytes_ < line_bytes_; ++block) {
    if ((blocks >> block & 1) != 0) l1_->access(line * line_bytes_ + block * fetch_bytes_);
  }
}

/// What has come or gone by now frees its resources.
void Lsu::retire() {
  while (!fills_.empty() && fills_.top().first <= now_) {
    const auto miss = misses_.find(fills_.top().second);
    --pending_[miss->second.set];
    misses_.erase(miss);
    fills_.pop();
  }
  while (!miss_queue_.empty() && miss_queue_.front() <= now_) miss_queue_.pop();
}

void Lsu::stall_until(double time) {
  now_ = std::max(now_, time);
  retire();
}

}  // namespace sonde::sim
