#include "device/sim/program/program_sm.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::sim {

ProgramSm::ProgramSm(const SmModel& model, const ProgramProbe& probe, int sm, L1Tags* l1,
                     MemorySide& memory, KernelWork& work, double begin, const SmBypass& bypass)
    : model_(model),
      probe_(probe),
      sm_(sm),
      l1_(l1),
      memory_(memory),
      work_(work),
      bypass_(bypass),
      warps_({.blocks = probe.resident_blocks,
              .block_warps = block_warps(probe.program.kernels.front()),
              .active = probe.active_warps},
             work),
      schedulers_(probe.machine.scheduler.value_or(WarpScheduler::greedy_then_oldest),
                  model.schedulers, warps_.count(), begin),
      results_(warps_.count()),
      unit_free_(begin),
      miss_queue_(model.lsu.miss_queue_entries),
      bypass_queue_(model.lsu.miss_queue_entries),
      now_(begin),
      end_(begin) {
  for (std::size_t slot = 0; slot < warps_.count(); ++slot) schedulers_.set_waiting(slot);
}

void ProgramSm::add_block() { begin(warps_.add_block(now_)); }

/// Tells the schedulers when the warp can issue what comes next, and what that is.
void ProgramSm::settle(std::size_t slot) {
  ResidentWarp& warp = warps_[slot];
  if (warp.accesses.at_end()) return schedulers_.set_waiting(slot);
  const ProgramAccess& access = warp.accesses.access();
  const bool begins = warp.accesses.begins_pass();
  const bool waits = begins || access.waits || access.store || probe_.windows;
  if (waits && warp.outstanding > 0) return schedulers_.set_waiting(slot);
  const bool instructions = begins && !warp.instructions_issued && work_.kernel().instructions > 0;
  schedulers_.set_next(slot, waits ? std::max(now_, warp.pass_ready) : now_, !instructions);
}

void ProgramSm::issue(int scheduler, std::size_t slot) {
  ResidentWarp& warp = warps_[slot];
  const std::uint32_t instructions = work_.kernel().instructions;
  if (warp.accesses.begins_pass() && !warp.instructions_issued && instructions > 0) {
    // One after the other without a gap: enough warps hide what arithmetic waits for.
    count(ProgramCount::instructions) += instructions;
    warp.instructions_issued = true;
    schedulers_.occupy(scheduler, slot, now_ + model_.issue_cycles * instructions);
    settle(slot);
    return;
  }
  schedulers_.occupy(scheduler, slot, now_ + model_.issue_cycles);
  issue_access(slot);
}

void ProgramSm::issue_access(std::size_t slot) {
  ResidentWarp& warp = warps_[slot];
  Entry& entry = unit_[(unit_first_ + unit_count_++) % unit_entries];
  work_.placed().find_lines(warp.accesses, entry.lines);
  entry.unit = probe_.level == BypassLevel::warp ? warp.warp : warps_.block_of(slot);
  const int units = bypass_.decider != nullptr ? bypass_.decider->cached() : probe_.cached;
  const bool cached = entry.unit < units;
  entry.next = 0;
  entry.slot = slot;
  entry.store = warp.accesses.access().store;
  entry.cached = l1_ != nullptr && cached;
  entry.uses_l1 = l1_ != nullptr && (cached || probe_.bypass_path != BypassPath::past_l1);
  entry.begun = false;
  entry.issued = now_;
  entry.ready = now_;
  if (unit_count_ == 1) unit_free_ = std::max(unit_free_, now_);
  ++count(ProgramCount::instructions);
  work_.count_access();
  ++results_[slot].accesses;
  if (!entry.store) ++warp.outstanding;
  warp.accesses.advance();
  if (warp.accesses.begins_pass()) warp.instructions_issued = false;
  go_on(slot);
}

void ProgramSm::step() {
  if (unit_count_ > 0 && unit_free_ <= now_) advance_unit();
  for (int scheduler = 0; scheduler < schedulers_.count() && !work_.done(); ++scheduler) {
    const auto slot = schedulers_.choose(scheduler, now_, unit_count_ == unit_entries);
    if (slot) issue(scheduler, *slot);
  }
  find_next_time();
}

void ProgramSm::find_next_time() {
  if (done()) return;
  double next = unit_count_ > 0 ? unit_free_ : std::numeric_limits<double>::infinity();
  if (!work_.done()) {
    next = std::min(next, schedulers_.next_time(unit_count_ == unit_entries));
  }
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
  if (entry.store) return play_store(access);
  if (!entry.begun) {
    entry.begun = true;
    if (entry.cached) l1_->begin_access(access.line);
    if (bypass_.observer != nullptr) {
      bypass_.observer->access(
          entry.unit, access.line,
          static_cast<std::uint64_t>(count(ProgramCount::reservation_failures)));
    }
  }
  return entry.uses_l1 ? play_load(entry, access) : play_past_l1(entry, access);
}

bool ProgramSm::play_load(Entry& entry, const LineAccess& access) {
  const L1Answer answer = l1_->look_up(access, now_);
  switch (answer.outcome) {
    case L1Outcome::hit:
      ++count(ProgramCount::l1_hits);
      entry.ready = std::max(entry.ready, now_ + model_.l1_hit_cycles);
      return true;
    case L1Outcome::merged:
      ++count(ProgramCount::l1_misses);
      entry.ready = std::max({entry.ready, answer.time, now_ + model_.l1_hit_cycles});
      return true;
    case L1Outcome::stalled:
      if (entry.cached) return fail_until(answer.time);
      break;
    case L1Outcome::miss:
      if (entry.cached || probe_.bypass_path == BypassPath::evict_first) {
        return play_miss(entry, access, answer);
      }
      break;
    case L1Outcome::bypassed: break;
  }
  if (!play_past_l1(entry, access)) return false;
  ++count(ProgramCount::l1_misses);
  return true;
}

bool ProgramSm::play_miss(Entry& entry, const LineAccess& access, const L1Answer& miss) {
  while (!fills_.empty() && fills_.top() <= now_) fills_.pop();
  if (fills_.size() >= model_.lsu.mshrs) return fail_until(fills_.top());
  if (miss_queue_.room_at() > now_) return fail_until(miss_queue_.room_at());
  ++count(ProgramCount::l1_misses);
  const double filled = memory_.load(sm_, now_, access.line, miss.fetched);
  miss_queue_.take(memory_.free_time(sm_));
  fills_.push(filled);
  l1_->reserve(access, miss, filled, entry.cached);
  entry.ready = std::max(entry.ready, filled);
  return true;
}

/// A queue of its own leads past the L1: neither lines nor MSHRs are needed.
bool ProgramSm::play_past_l1(Entry& entry, const LineAccess& access) {
  if (bypass_queue_.room_at() > now_) return wait_until(bypass_queue_.room_at());
  const Sectors sectors =
      fetched_sectors(access.sectors, model_.lsu.bypass_fetch_bytes, work_.placed().line_bytes);
  entry.ready = std::max(entry.ready, memory_.load(sm_, now_, access.line, sectors));
  bypass_queue_.take(memory_.free_time(sm_));
  return true;
}

/// Stores go the same way, whatever the L1 holds of their line.
bool ProgramSm::play_store(const LineAccess& access) {
  if (bypass_queue_.room_at() > now_) return wait_until(bypass_queue_.room_at());
  if (l1_ != nullptr) l1_->store(access);
  memory_.store(sm_, now_, access.line, access.sectors);
  bypass_queue_.take(memory_.free_time(sm_));
  return true;
}

/// Every cycle until then is a reservation failure: the pipeline tries again and stands still.
bool ProgramSm::fail_until(double time) {
  wait_until(time);
  count(ProgramCount::reservation_failures) += unit_free_ - now_;
  return false;
}

bool ProgramSm::wait_until(double time) {
  unit_free_ = std::max(std::ceil(time), now_ + 1);
  return false;
}

void ProgramSm::finish(const Entry& entry) {
  end_ = std::max(end_, entry.ready);
  if (entry.store) return;
  ResidentWarp& warp = warps_[entry.slot];
  --warp.outstanding;
  warp.pass_ready = std::max(warp.pass_ready, std::ceil(entry.ready));
  if (probe_.windows) {
    WarpResult& result = results_[entry.slot];
    result.windows.push_back(entry.ready - entry.issued);
    // The next instruction of the warp could issue once the unit had taken all lines.
    result.issue_cycles += now_ - entry.issued;
  }
  go_on(entry.slot);
}

/// The warp of the slot with what comes next, or another one in its place.
void ProgramSm::go_on(std::size_t slot) {
  const ResidentWarp& warp = warps_[slot];
  if (!warp.accesses.at_end() || warp.outstanding > 0) return settle(slot);
  schedulers_.set_waiting(slot);
  begin(warps_.end_warp(slot));
}

void ProgramSm::begin(const ReplacedSlots& replaced) {
  for (std::size_t slot = replaced.first; slot < replaced.end; ++slot) {
    schedulers_.set_youngest(slot);
    settle(slot);
  }
}

namespace {

/// The first blocks, one to each SM in turn until all SMs are full.
void give_first_blocks(std::vector<ProgramSm>& sms, int resident_blocks) {
  for (int block = 0; block < resident_blocks; ++block) {
    for (ProgramSm& sm : sms) sm.add_block();
  }
}

/// All SMs whose time has come do what they have to, each time another one first, so that requests
/// reach the memory side in order and nobody is favoured.
void play_together(std::vector<ProgramSm>& sms) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  for (const ProgramSm& sm : sms) times.push_back(sm.done() ? never : sm.time());
  std::size_t first = 0;
  for (double now = std::ranges::min(times); now < never;) {
    double next = never;
    for (std::size_t i = 0, at = first; i < sms.size(); ++i) {
      if (times[at] <= now) {
        sms[at].step();
        times[at] = sms[at].done() ? never : sms[at].time();
      }
      next = std::min(next, times[at]);
      if (++at == sms.size()) at = 0;
    }
    if (++first == sms.size()) first = 0;
    now = next;
  }
}

void add(const ProgramSm& sm, double begin, MachineSm& result) {
  result.cycles += sm.end() - begin;
  std::ranges::transform(result.counts, sm.counts(), result.counts.begin(), std::plus{});
  result.warps.resize(sm.results().size());
  for (std::size_t at = 0; at < result.warps.size(); ++at) {
    const WarpResult& more = sm.results()[at];
    WarpResult& warp = result.warps[at];
    warp.accesses += more.accesses;
    warp.issue_cycles += more.issue_cycles;
    warp.windows.insert(warp.windows.end(), more.windows.begin(), more.windows.end());
  }
}

}  // namespace

std::vector<MachineSm> play_machine(const MachineModel& model, const ProgramProbe& probe,
                                    int sm_count, std::uint64_t ranks,
                                    std::uint64_t buffer_address) {
  MemorySide memory(model.memory, sm_count);
  std::vector<L1Tags> l1s;
  if (model.l1) l1s.assign(static_cast<std::size_t>(sm_count), L1Tags(*model.l1));
  std::vector<BypassGenerator> generators;  // of each SM, or of the first one for all
  if (const auto& dynamic = probe.machine.dynamic; dynamic && model.l1) {
    const L1Model& l1 = *model.l1;
    generators.assign(dynamic->one_for_all ? 1 : static_cast<std::size_t>(sm_count),
                      {*dynamic, bypass_units(probe), l1.sets, l1.ways, l1.set_of});
  }
  const auto bypass_of = [&](std::size_t at) -> SmBypass {
    BypassGenerator* own = at < generators.size() ? &generators[at] : nullptr;
    return {.decider = own == nullptr && !generators.empty() ? &generators.front() : own,
            .observer = own};
  };
  std::vector<MachineSm> results(static_cast<std::size_t>(sm_count));
  const auto shares = share_accesses(probe.program, probe.sm_accesses, 1);
  std::vector<std::uint64_t> arrays = array_offsets_bytes(probe.program);
  for (std::uint64_t& array : arrays) array += buffer_address;
  double begin = 0;
  for (std::size_t kernel = 0; kernel < probe.program.kernels.size(); ++kernel) {
    KernelWork work({.program = probe.program,
                     .kernel = probe.program.kernels[kernel],
                     .array_addresses = arrays,
                     .line_bytes = model.memory.line_bytes},
                    ranks / results.size(), shares[kernel] * results.size());
    std::vector<ProgramSm> sms;
    sms.reserve(results.size());
    for (std::size_t at = 0; at < results.size(); ++at) {
      if (model.l1) l1s[at].clear();
      sms.emplace_back(model.sm, probe, static_cast<int>(at), model.l1 ? &l1s[at] : nullptr, memory,
                       work, begin, bypass_of(at));
    }
    give_first_blocks(sms, probe.resident_blocks);
    play_together(sms);
    double end = begin;
    for (std::size_t at = 0; at < results.size(); ++at) {
      add(sms[at], begin, results[at]);
      end = std::max(end, sms[at].end());
    }
    begin = end;
  }
  for (std::size_t at = 0; at < results.size(); ++at) {
    const auto set = [&](ProgramCount what, std::uint64_t count) {
      results[at].counts[static_cast<std::size_t>(what)] = static_cast<double>(count);
    };
    const MemoryCounts& requests = memory.counts(static_cast<int>(at));
    set(ProgramCount::l2_requests, requests.l2_requests);
    set(ProgramCount::dram_requests, requests.dram_requests);
    if (const BypassGenerator* decider = bypass_of(at).decider) {
      set(ProgramCount::periods, decider->periods());
      set(ProgramCount::cached_in_periods, decider->cached_in_periods());
    }
  }
  return results;
}

}  // namespace sonde::sim
