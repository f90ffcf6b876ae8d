// Threads that wait for each other (Wong 2010, listings 4 to 7): whoever would wait for ever gives
// up by the clock, and that is the answer.
#include "analysis/structure/cores/divergence.hpp"
#include "jobs/control/parts.hpp"
#include "jobs/run/clock_window.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace sonde {
namespace {

/// Some hundred times what a thread needs to see a signal in shared memory, and 32 of them in turn.
constexpr std::uint64_t limit_cycles = 100'000;
constexpr int measured_sms = 3;
constexpr std::size_t warp_size = 32;
constexpr std::size_t half_warp = 16;

const Trace& wait(JobRun& run, const char* label, WaitProgram program) {
  return run.run(label, WaitProbe{.program = program,
                                  .limit_cycles = limit_cycles,
                                  .sms = spread_sms(run.info().sm_count, measured_sms)});
}

bool all_came_through(std::span<const std::uint64_t> cycles) {
  return std::ranges::all_of(cycles, [](std::uint64_t when) { return when > 0; });
}

/// The answer of all SMs. @param answer of one lane's stamps
/// @return nothing if SMs differ, or one has no answer
template <class Answer>
auto common_answer(const Trace& trace, const Answer& answer) {
  auto common = answer(std::span<const std::uint64_t>(trace.lanes.front().clock_cycles));
  for (const LaneTrace& lane : trace.lanes) {
    if (answer(std::span<const std::uint64_t>(lane.clock_cycles)) != common)
      return decltype(common){};
  }
  return common;
}

void report_text(JobRun& run, const char* metric, const std::optional<std::string>& text,
                 std::size_t samples, const char* reason) {
  run.report(text ? found(metric, *text, 1, samples) : not_resolvable(metric, reason));
}

using Answer = std::optional<std::string>;

Answer model_of(std::span<const std::uint64_t> cycles) {
  const bool lower = all_came_through(cycles.first(half_warp));
  const bool upper = all_came_through(cycles.subspan(half_warp, half_warp));
  if (lower && upper) return "independent";
  // The half that ran first waited in vain; then the other one found all that it waited for.
  return lower != upper ? Answer{"stack"} : Answer{};
}

Answer deadlock_of(std::span<const std::uint64_t> cycles) {
  return all_came_through(cycles) ? "no" : "yes";
}

Answer participant_of(std::span<const std::uint64_t> cycles) {
  const auto participant = barrier_participant(cycles);
  if (!participant) return {};
  switch (*participant) {
    case BarrierParticipant::thread: return "thread";
    case BarrierParticipant::warp: return "warp";
    case BarrierParticipant::path: break;
  }
  return "path";
}

constexpr const char* differ = "SMs gave different answers, or one that fits no known mechanism";

}  // namespace

void measure_waits(JobRun& run) {
  const Trace& handshake =
      wait(run, "halves of a warp wait for each other", WaitProgram::handshake);
  report_text(run, "control.divergence_model", common_answer(handshake, model_of),
              handshake.lanes.size(), differ);
  const Trace& release = wait(run, "release behind the loop", WaitProgram::spin_release);
  report_text(
      run, "control.spin_release_deadlocks",
      common_answer(release, [](auto cycles) { return deadlock_of(cycles.first(warp_size)); }),
      release.lanes.size(), differ);
  const Trace& barrier = wait(run, "a barrier against a loop", WaitProgram::barrier_against_spin);
  report_text(
      run, "control.barrier_spin_deadlocks",
      common_answer(barrier,
                    [](auto cycles) { return deadlock_of(cycles.subspan(warp_size, warp_size)); }),
      barrier.lanes.size(), differ);
}

void measure_barrier_participant(JobRun& run) {
  const Trace& trace = wait(run, "halves of a warp at a barrier", WaitProgram::diverged_barrier);
  report_text(run, "control.barrier_participant", common_answer(trace, participant_of),
              trace.lanes.size(), differ);
}

}  // namespace sonde
