// Plays an SM cycle by cycle. Each scheduler looks at its warps in turn, starting after the warp
// that issued last, and issues an instruction that is ready and finds a free unit. Cycles in which
// nothing can happen are skipped.
#include "device/sim/cores/issue.hpp"

#include <algorithm>
#include <limits>

namespace sonde::sim {
namespace {

// Steps that are simulated. By then the pace is constant, and further steps are extrapolated.
constexpr std::uint64_t simulated_steps = 96;

using Time = std::int64_t;  // cycles

struct Item {
  std::size_t instruction = 0;
  std::size_t chain = 0;
};

std::vector<Item> list_step(const WarpProgram& program) {
  std::size_t longest = 0;
  for (const OpModel* op : program.ops) longest = std::max(longest, op->instructions.size());
  std::vector<Item> items;
  for (std::size_t at = 0; at < longest; ++at) {
    for (int chain = 0; chain < program.ilp; ++chain) {
      for (std::size_t op = 0; op < program.ops.size(); ++op) {
        const auto& instructions = program.ops[op]->instructions;
        if (at >= instructions.size()) continue;
        items.push_back({.instruction = instructions[at],
                         .chain = static_cast<std::size_t>(chain) * program.ops.size() + op});
      }
    }
  }
  return items;
}

struct Warp {
  std::size_t item = 0;
  std::uint64_t steps_left = 0;
  std::vector<Time> chain_ready;  // [chain]
};

struct Unit {
  Time taken_until = 0;
  std::vector<Time> under_way;  // end times of the instructions in it
};

struct Scheduler {
  std::vector<Warp> warps;
  std::size_t next = 0;  // the warp to look at first
  Time free_at = 0;
};

class Sm {
 public:
  Sm(const PipelinesModel& pipelines, const WarpProgram& program, int warps,
     std::uint32_t slow_cycles)
      : pipelines_(pipelines),
        items_(list_step(program)),
        slow_cycles_(slow_cycles),
        schedulers_(static_cast<std::size_t>(pipelines.schedulers)) {
    const auto chains = static_cast<std::size_t>(program.ilp) * program.ops.size();
    for (int warp = 0; warp < warps; ++warp) {
      schedulers_[static_cast<std::size_t>(warp) % schedulers_.size()].warps.push_back(
          {.steps_left = program.steps, .chain_ready = std::vector<Time>(chains, 0)});
    }
    for (const UnitModel& unit : pipelines.units) {
      const auto sharers = unit.scope == UnitScope::sm ? 1 : schedulers_.size();
      units_.emplace_back(static_cast<std::size_t>(unit.count) * sharers);
    }
  }

  Time run() {
    Time now = 0;
    while (now < never) {
      next_ = never;
      // Each round begins with another scheduler, so that none always gets the shared units.
      for (std::size_t i = 0; i < schedulers_.size(); ++i) {
        look((first_ + i) % schedulers_.size(), now);
      }
      first_ = (first_ + 1) % schedulers_.size();
      now = next_;
    }
    return end_;
  }

 private:
  static constexpr Time never = std::numeric_limits<Time>::max();

  struct Found {
    const ExecutionModel* execution = nullptr;
    Unit* unit = nullptr;
  };

  /// A free unit, or the unit that becomes free first.
  Found find_unit(std::size_t scheduler, const InstructionModel& instruction, Time now) {
    Found best;
    for (const ExecutionModel& execution : instruction.executions) {
      const UnitModel& unit = pipelines_.units[execution.unit];
      const auto count = static_cast<std::size_t>(unit.count);
      const std::size_t first = unit.scope == UnitScope::sm ? 0 : scheduler * count;
      for (std::size_t i = first; i < first + count; ++i) {
        Unit& one = units_[execution.unit][i];
        if (one.taken_until <= now) return {&execution, &one};
        if (best.unit == nullptr || one.taken_until < best.unit->taken_until) {
          best = {&execution, &one};
        }
      }
    }
    return best;
  }

  /// Issues the ready instructions of one warp, at most issue_width. @return their number
  int issue_from(std::size_t number, Warp& warp, Time now) {
    int issued = 0;
    while (issued < pipelines_.issue_width && warp.steps_left > 0) {
      const Item& item = items_[warp.item];
      const Time ready = warp.chain_ready[item.chain];
      if (ready > now) {
        next_ = std::min(next_, ready);
        break;
      }
      const Found unit = find_unit(number, pipelines_.instructions[item.instruction], now);
      if (unit.unit->taken_until > now) {
        next_ = std::min(next_, unit.unit->taken_until);
        break;
      }
      advance(warp, take(unit, now));
      ++issued;
    }
    return issued;
  }

  /// Occupies a unit. @return when the result is ready
  Time take(const Found& found, Time now) const {
    const UnitModel& model = pipelines_.units[found.execution->unit];
    Unit& unit = *found.unit;
    unit.taken_until = now + found.execution->occupied_cycles;
    Time ready = now + found.execution->latency_cycles + slow_cycles_;
    if (model.crowded_cycles == 0) return ready;
    std::erase_if(unit.under_way, [now](Time end) { return end <= now; });
    if (unit.under_way.size() >= model.crowded_from) ready += model.crowded_cycles;
    unit.under_way.push_back(ready);
    return ready;
  }

  void advance(Warp& warp, Time ready) {
    warp.chain_ready[items_[warp.item].chain] = ready;
    end_ = std::max(end_, ready);
    if (++warp.item < items_.size()) return;
    warp.item = 0;
    --warp.steps_left;
  }

  void look(std::size_t number, Time now) {
    Scheduler& scheduler = schedulers_[number];
    if (scheduler.free_at > now) {
      next_ = std::min(next_, scheduler.free_at);
      return;
    }
    const std::size_t count = scheduler.warps.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = (scheduler.next + i) % count;
      if (issue_from(number, scheduler.warps[place], now) == 0) continue;
      scheduler.next = (place + 1) % count;
      scheduler.free_at = now + pipelines_.issue_interval_cycles;
      next_ = std::min(next_, scheduler.free_at);
      return;
    }
  }

  const PipelinesModel& pipelines_;
  std::vector<Item> items_;
  Time slow_cycles_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::vector<Unit>> units_;  // [kind][number]
  std::size_t first_ = 0;                 // scheduler that looks first
  Time next_ = 0;                         // earliest time at which something can happen
  Time end_ = 0;
};

}  // namespace

std::uint64_t issue_warps(const PipelinesModel& pipelines, const WarpProgram& program, int warps,
                          std::uint32_t slow_cycles) {
  const auto play = [&](std::uint64_t steps) {
    WarpProgram part = program;
    part.steps = steps;
    return static_cast<std::uint64_t>(Sm(pipelines, part, warps, slow_cycles).run());
  };
  if (program.steps <= simulated_steps) return play(program.steps);
  constexpr std::uint64_t half = simulated_steps / 2;
  const std::uint64_t whole = play(simulated_steps);
  const double pace = static_cast<double>(whole - play(half)) / half;
  return whole +
         static_cast<std::uint64_t>(pace * static_cast<double>(program.steps - simulated_steps));
}

}  // namespace sonde::sim
