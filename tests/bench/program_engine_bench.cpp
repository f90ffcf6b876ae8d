// How fast a simulated GPU plays programs of loads and stores: by program of Dai et al. (DAC 2016),
// the lines a second that its load-store units take, and the cycles a second of all its SMs
// together, of processor time.
#include "device/sim/model/model_files.hpp"
#include "device/sim/sim_device.hpp"
#include "jobs/bypass/programs.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>

namespace sonde::sim {
namespace {

struct Options {
  std::string model = "fermi_dac16";
  std::string program;  // empty: all
  double lines = 500'000;
  int cached = -1;  // -1: every unit
};

/// What was played, and the processor time it took.
struct Played {
  double lines = 0;   // of loads through the L1, and what left the SMs without looking there
  double cycles = 0;  // of each SM, together
  double seconds = 0;

  void operator+=(const Played& other) {
    lines += other.lines;
    cycles += other.cycles;
    seconds += other.seconds;
  }
};

double count(const LaneTrace& lane, ProgramCount what) {
  if (lane.counts.empty()) return 0;
  const std::uint64_t value = lane.counts[static_cast<std::size_t>(what)];
  return value == not_counted ? 0 : static_cast<double>(value);
}

Played play(Device& device, const PaperProgram& program, const Options& options) {
  ProgramProbe probe;
  probe.program = program.program;
  probe.resident_blocks = program.resident_blocks;
  probe.level = program.level;
  const int units = bypass_units(probe);
  probe.cached = options.cached < 0 ? units : std::min(units, options.cached);
  probe.sm_accesses = static_cast<std::uint64_t>(options.lines / lines_per_access(program.program));
  const std::clock_t begin = std::clock();
  const Trace trace = device.run(probe);
  Played played;
  played.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  for (const LaneTrace& lane : trace.lanes) {
    if (lane.warp != 0) continue;
    played.cycles += static_cast<double>(lane.elapsed_cycles);
    const double hits = count(lane, ProgramCount::l1_hits);
    played.lines += hits + std::max(count(lane, ProgramCount::l1_misses),
                                    count(lane, ProgramCount::l2_requests));
  }
  return played;
}

void print(std::string_view name, const Played& played) {
  fmt::print("{:5} {:7.2f} s {:9.2f} Mlines/s {:9.1f} Mcycles/s\n", name, played.seconds,
             played.lines / played.seconds / 1e6, played.cycles / played.seconds / 1e6);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"How fast simulated GPUs play programs of loads and stores"};
  app.add_option("--model", options.model, "a shipped model");
  app.add_option("--program", options.program, "as kms; all, unless one is named");
  app.add_option("--lines", options.lines, "of an SM, about")->check(CLI::PositiveNumber);
  app.add_option("--cached", options.cached, "units that use the L1, all unless set");
  CLI11_PARSE(app, argc, argv);
  SimDevice device(load_faulty_model(options.model), die_seed(1, 0));
  Played all;
  for (const PaperProgram& program : paper_programs()) {
    if (!options.program.empty() && program.program.name != options.program) continue;
    const Played played = play(device, program, options);
    print(program.program.name, played);
    all += played;
  }
  print("all", all);
  return 0;
}

}  // namespace
}  // namespace sonde::sim

int main(int argc, char** argv) {
  try {
    return sonde::sim::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
