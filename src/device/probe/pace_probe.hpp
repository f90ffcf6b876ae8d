// Probes of what surrounds every measurement: how launches follow each other, and how fast the SM
// clocks run while the GPU works. Part of the seam: probe.hpp lists them among all others.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace sonde {

/// `launches` kernels queued in a row, whose blocks have one warp (Wong 2010, figure 5).
/// Trace.repeat_ns has `repeats` values, by the clock of the host: from before the first launch
/// until the host knows that the last one has ended.
///
/// With busy_ns == 0 the kernels are empty, and there are no lanes. Otherwise each block stays for
/// busy_ns. One lane for each block of the last repeat, launch by launch, with its SM and, as
/// `cluster`, the number of its launch; clock_cycles and globaltimer_ns hold its begin and its end.
struct LaunchProbe {
  int launches = 1;
  int blocks = 1;
  std::uint64_t busy_ns = 0;
  int repeats = 1;
};

/// What the SMs do while their clocks are read.
enum class SmWork {
  none,       // nothing, except the thread that reads the clock
  arithmetic  // all other warps multiply and add in single precision, as fast as they can
};

/// How fast the SM clocks run: on each of the SMs, at the same time, one thread reads its clock and
/// the device-wide timer once in each `interval_ns`, `samples` times in all.
/// One lane for each SM with clock_cycles and globaltimer_ns.
struct PaceProbe {
  SmWork work = SmWork::none;
  std::vector<int> sms;  // distinct
  std::uint64_t samples = 0;
  std::uint64_t interval_ns = 0;
};

nlohmann::json describe(const LaunchProbe& probe);
nlohmann::json describe(const PaceProbe& probe);

/// @throws Error naming the field
void check(const LaunchProbe& probe, int sm_count);
void check(const PaceProbe& probe, int sm_count);

}  // namespace sonde
