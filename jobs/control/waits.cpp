// Threads that wait for each other (Wong 2010, listings 4 to 7). A thread that would wait forever
// gives up by the clock; that is the answer.
#include "analysis/structure/cores/divergence.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace sonde {
namespace {

/// Some hundred times as long as 32 threads in turn need to see a signal in shared memory.
constexpr std::uint64_t limit_cycles = 100'000;
constexpr std::size_t warp_size = 32;
constexpr std::size_t half_warp = 16;

bool all_came_through(std::span<const std::uint64_t> cycles) {
  return std::ranges::all_of(cycles, [](std::uint64_t when) { return when > 0; });
}

using Answer = std::optional<std::string>;

/// Reports the common answer of all SMs. @param answer_of evaluates the stamps of a lane
void report_wait(JobRun& run, const char* label, WaitProgram program, const char* metric,
                 Answer (*answer_of)(std::span<const std::uint64_t>)) {
  const Trace& trace = run.run(label, WaitProbe{.program = program,
                                                .limit_cycles = limit_cycles,
                                                .sms = spread_sms(run, voting_sms)});
  std::set<Answer> answers;
  for (const LaneTrace& lane : trace.lanes) answers.insert(answer_of(lane.clock_cycles));
  const Answer& first = *answers.begin();
  run.report(
      answers.size() == 1 && first
          ? found(metric, *first, 1, trace.lanes.size())
          : not_resolvable(
                metric, "SMs gave different answers, or an answer that fits no known mechanism"));
}

Answer model_of(std::span<const std::uint64_t> cycles) {
  const bool lower = all_came_through(cycles.first(half_warp));
  const bool upper = all_came_through(cycles.subspan(half_warp, half_warp));
  if (lower && upper) return "independent";
  // The half that ran first waited in vain; the other half then found all signals.
  return lower != upper ? Answer{"stack"} : Answer{};
}

Answer deadlock_of(std::span<const std::uint64_t> cycles) {
  return all_came_through(cycles) ? "no" : "yes";
}

void measure_waits(JobRun& run) {
  report_wait(run, "halves of a warp wait for each other", WaitProgram::handshake,
              "control.divergence_model", model_of);
  report_wait(run, "release behind the loop", WaitProgram::spin_release,
              "control.spin_release_deadlocks",
              [](auto cycles) { return deadlock_of(cycles.first(warp_size)); });
  report_wait(run, "a barrier against a loop", WaitProgram::barrier_against_spin,
              "control.barrier_spin_deadlocks",
              [](auto cycles) { return deadlock_of(cycles.subspan(warp_size, warp_size)); });
}

void measure_barrier_participant(JobRun& run) {
  report_wait(run, "halves of a warp at a barrier", WaitProgram::diverged_barrier,
              "control.barrier_participant", barrier_participant);
}

}  // namespace

void report_waiting_threads(JobRun& run) {
  measure_part(run, {"control.barrier_participant"}, [&] { measure_barrier_participant(run); });
  measure_part(run, {"control.barrier_spin"}, [&] { measure_waits(run); });
}

}  // namespace sonde
