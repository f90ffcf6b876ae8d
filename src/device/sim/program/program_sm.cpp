#include "device/sim/program/program_sm.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde::sim {
namespace {

/// Slots that the two-level scheduler takes together (fetch groups: Narasiman et al., MICRO 2011).
constexpr std::size_t group_warps = 8;

}  // namespace

ProgramSm::ProgramSm(const SmModel& model, const SmPlay& play, L1Tags* l1, MemorySide& memory,
                     const KernelAccesses& kernel, double begin, std::function<int()> cached,
                     BypassGenerator* generator)
    : model_(model),
      play_(play),
      l1_(l1),
      memory_(memory),
      kernel_(kernel),
      cached_(std::move(cached)),
      generator_(generator),
      warps_(static_cast<std::size_t>(play.warps)),
      results_(warps_.size()),
      scheduler_free_(static_cast<std::size_t>(model.schedulers), begin),
      last_warp_(scheduler_free_.size(), 0),
      unit_free_(begin),
      now_(begin),
      end_(begin) {
  for (Warp& warp : warps_) {
    warp.pass_ready = begin;
    begin_warp(warp);
  }
  for (std::size_t s = 0; s < last_warp_.size(); ++s) last_warp_[s] = s % warps_.size();
}

/// The next warp that comes to the SM takes the place, once that one's loads have come.
void ProgramSm::begin_warp(Warp& warp) {
  const ProgramKernel& kernel = kernel_.kernel();
  const auto block_warps = static_cast<std::uint64_t>(play_.block_warps);
  const std::uint64_t blocks = std::uint64_t{kernel.grid_x} * kernel.grid_y;
  const std::uint64_t of_sm = std::max<std::uint64_t>(blocks / play_.ranks, 1);
  do {  // a warp without a pass ends at once; the kernel has one that makes some
    warp.number = warps_begun_++;
    const std::uint64_t block =
        (warp.number / block_warps % of_sm * play_.ranks + play_.rank) % blocks;
    warp.accesses =
        WarpAccesses(kernel_, {.block_x = static_cast<std::uint32_t>(block % kernel.grid_x),
                               .block_y = static_cast<std::uint32_t>(block / kernel.grid_x),
                               .warp = static_cast<std::uint32_t>(warp.number % block_warps)});
  } while (warp.accesses.at_end());
  warp.age = warps_begun_;
  warp.ready = warp.pass_ready;
  warp.instructions_issued = false;
}

bool ProgramSm::issues_instructions(const Warp& warp) const {
  return warp.accesses.begins_pass() && !warp.instructions_issued &&
         kernel_.kernel().instructions > 0;
}

/// From when on the warp can issue; infinite while something must happen first.
double ProgramSm::issue_time(const Warp& warp) const {
  const ProgramAccess& access = warp.accesses.access();
  const bool waits = warp.accesses.begins_pass() || access.waits || access.store || play_.windows;
  if (waits && warp.outstanding > 0) return INFINITY;
  const double ready = waits ? std::max(warp.ready, warp.pass_ready) : warp.ready;
  if (!issues_instructions(warp) && unit_count_ == unit_entries) return INFINITY;
  return ready;
}

std::optional<std::size_t> ProgramSm::choose_warp(int scheduler) {
  const auto step = static_cast<std::size_t>(model_.schedulers);
  const auto first = static_cast<std::size_t>(scheduler);
  const std::size_t last = last_warp_[first];
  const auto can_issue = [this](std::size_t slot) { return issue_time(warps_[slot]) <= now_; };
  if (model_.scheduler == WarpScheduler::greedy_then_oldest) {
    if (last % step == first && can_issue(last)) return last;
    std::optional<std::size_t> oldest;
    for (std::size_t slot = first; slot < warps_.size(); slot += step) {
      if (oldest && warps_[slot].age >= warps_[*oldest].age) continue;
      if (can_issue(slot)) oldest = slot;
    }
    return oldest;
  }
  const std::size_t count = warps_.size() > first ? (warps_.size() - first + step - 1) / step : 0;
  const std::size_t begin = last / step;
  // Two levels: the group that issued last goes on, warp after warp, while any of it can.
  const bool two_level = model_.scheduler == WarpScheduler::two_level;
  const std::size_t group = begin / group_warps;
  for (const bool any_group : {false, true}) {
    if (!two_level && !any_group) continue;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::size_t at = (begin + i) % count;
      if (!any_group && at / group_warps != group) continue;
      const std::size_t slot = at * step + first;
      if (can_issue(slot)) return slot;
    }
  }
  return std::nullopt;
}

void ProgramSm::issue(int scheduler, std::size_t slot) {
  Warp& warp = warps_[slot];
  last_warp_[static_cast<std::size_t>(scheduler)] = slot;
  double& free = scheduler_free_[static_cast<std::size_t>(scheduler)];
  if (issues_instructions(warp)) {
    // One after the other without a gap: enough warps hide what arithmetic waits for.
    const std::uint32_t instructions = kernel_.kernel().instructions;
    counts_.instructions += instructions;
    warp.instructions_issued = true;
    free = now_ + model_.issue_cycles * instructions;
    warp.ready = free;
    return;
  }
  free = now_ + model_.issue_cycles;
  warp.ready = free;
  issue_access(warp, slot);
}

void ProgramSm::issue_access(Warp& warp, std::size_t slot) {
  Entry& entry = unit_[(unit_first_ + unit_count_++) % unit_entries];
  const ProgramAccess& access = warp.accesses.access();
  warp.accesses.lines(entry.lines);
  const bool cached = unit_of(slot) < cached_();
  entry.next = 0;
  entry.warp = static_cast<int>(slot);
  entry.store = access.store;
  entry.cached = l1_ != nullptr && cached;
  entry.uses_l1 = l1_ != nullptr && (cached || play_.bypass_path != BypassPath::past_l1);
  entry.begun = false;
  entry.issued = now_;
  entry.ready = now_;
  if (unit_count_ == 1) unit_free_ = std::max(unit_free_, now_);
  ++counts_.instructions;
  ++made_;
  WarpResult& result = results_[slot];
  ++result.accesses;
  if (!access.store) ++warp.outstanding;
  warp.accesses.advance();
  if (warp.accesses.begins_pass()) warp.instructions_issued = false;
}

int ProgramSm::unit_of(std::size_t slot) const {
  const auto block_warps = static_cast<std::uint64_t>(play_.block_warps);
  return static_cast<int>(play_.level == BypassLevel::warp ? warps_[slot].number % block_warps
                                                           : slot / block_warps);
}

void ProgramSm::step() {
  retire();
  if (unit_count_ > 0 && unit_free_ <= now_) advance_unit();
  for (int scheduler = 0; scheduler < model_.schedulers && made_ < play_.accesses; ++scheduler) {
    if (scheduler_free_[static_cast<std::size_t>(scheduler)] > now_) continue;
    if (const auto slot = choose_warp(scheduler)) issue(scheduler, *slot);
  }
  find_next_time();
}

void ProgramSm::find_next_time() {
  double next = unit_count_ > 0 ? unit_free_ : INFINITY;
  if (made_ < play_.accesses) {
    const std::size_t schedulers = scheduler_free_.size();
    for (std::size_t slot = 0; slot < warps_.size(); ++slot) {
      Warp& warp = warps_[slot];
      if (warp.accesses.at_end() && warp.outstanding == 0) begin_warp(warp);
      if (warp.accesses.at_end()) continue;
      next = std::min(next, std::max(issue_time(warp), scheduler_free_[slot % schedulers]));
    }
  }
  if (done()) return;
  require(std::isfinite(next), "a simulated SM has nothing to do and is not done");
  now_ = std::max(now_, next);
}

/// One line of the access that came first.
void ProgramSm::advance_unit() {
  Entry& entry = unit_[unit_first_];
  if (!play_line(entry, entry.lines.lines[entry.next])) return;
  unit_free_ = now_ + 1;
  entry.begun = false;
  if (++entry.next < entry.lines.count) return;
  finish(entry);
  unit_first_ = (unit_first_ + 1) % unit_entries;
  --unit_count_;
}

/// @return false if it must be tried again, then unit_free_ says when
bool ProgramSm::play_line(Entry& entry, const LineAccess& access) {
  if (entry.store) {
    const auto bytes =
        static_cast<std::uint64_t>(std::popcount(access.sectors)) * smallest_sector_bytes;
    if (l1_ != nullptr) l1_->store(access);
    memory_.store(play_.sm, now_, access.line, bytes);
    return true;
  }
  if (!entry.begun) {
    entry.begun = true;
    if (entry.cached) l1_->begin_access(access.line);
    if (generator_ != nullptr) {
      generator_->access(unit_of(static_cast<std::size_t>(entry.warp)), access.line,
                         static_cast<std::uint64_t>(counts_.failures));
    }
  }
  if (entry.uses_l1) return play_load(entry, access);
  bypass(entry, access);
  return true;
}

bool ProgramSm::play_load(Entry& entry, const LineAccess& access) {
  const L1Answer answer = l1_->look_up(access, now_);
  switch (answer.outcome) {
    case L1Outcome::hit:
      ++counts_.l1_hits;
      entry.ready = std::max(entry.ready, now_ + model_.l1_hit_cycles);
      return true;
    case L1Outcome::merged:
      ++counts_.l1_misses;
      entry.ready = std::max(entry.ready, std::max(answer.time, now_ + model_.l1_hit_cycles));
      return true;
    case L1Outcome::stalled:
      if (entry.cached) return fail_until(answer.time);
      break;
    case L1Outcome::miss:
      if (entry.cached || play_.bypass_path == BypassPath::evict_first) {
        return play_miss(entry, access, answer);
      }
      break;
    case L1Outcome::bypassed: break;
  }
  ++counts_.l1_misses;
  bypass(entry, access);
  return true;
}

bool ProgramSm::play_miss(Entry& entry, const LineAccess& access, const L1Answer& miss) {
  if (fills_.size() >= model_.mshrs) return fail_until(fills_.top());
  if (miss_queue_.size() >= model_.miss_queue_entries) return fail_until(miss_queue_.front());
  ++counts_.l1_misses;
  const double filled = memory_.load(play_.sm, now_, access.line, miss.missing_bytes);
  miss_queue_.push(memory_.free_time(play_.sm));
  fills_.push(filled);
  l1_->reserve(access, miss, filled, entry.cached);
  entry.ready = std::max(entry.ready, filled);
  return true;
}

void ProgramSm::bypass(Entry& entry, const LineAccess& access) {
  const std::uint64_t sectors =
      static_cast<std::uint64_t>(std::popcount(access.sectors)) * smallest_sector_bytes;
  const std::uint64_t bytes = std::max(sectors, model_.bypass_fetch_bytes);
  entry.ready = std::max(entry.ready, memory_.load(play_.sm, now_, access.line, bytes));
}

/// Every cycle until then is a reservation failure: the pipeline tries again and stands still.
bool ProgramSm::fail_until(double time) {
  const double next = std::max(std::ceil(time), now_ + 1);
  counts_.failures += next - now_;
  unit_free_ = next;
  return false;
}

void ProgramSm::finish(const Entry& entry) {
  end_ = std::max(end_, entry.ready);
  if (entry.store) return;
  Warp& warp = warps_[static_cast<std::size_t>(entry.warp)];
  --warp.outstanding;
  warp.pass_ready = std::max(warp.pass_ready, entry.ready);
  if (!play_.windows) return;
  WarpResult& result = results_[static_cast<std::size_t>(entry.warp)];
  result.windows.push_back(entry.ready - entry.issued);
  // The next instruction of the warp could issue once the unit had taken all lines.
  result.issue_cycles += now_ - entry.issued;
}

void ProgramSm::retire() {
  while (!fills_.empty() && fills_.top() <= now_) fills_.pop();
  while (!miss_queue_.empty() && miss_queue_.front() <= now_) miss_queue_.pop();
}

}  // namespace sonde::sim
