// Plays the experiments of Dai et al. (DAC 2016) on simulated Fermis, one program for each, several
// at a time, and prints the paper's figures. docs/methods/bypass.md says what they mean.
#include "bench/paper_study.hpp"

#include "base/gpu_facts.hpp"
#include "device/backends/open_device.hpp"
#include "device/probe/program_plan.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <iterator>
#include <stdexcept>

namespace sonde {
namespace {

struct Options {
  std::vector<std::string> programs;  // empty: all
  std::uint64_t lines = 500000;       // of each SM, in each play
  unsigned threads = 2;
  std::string model = "fermi_dac16";
};

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint32_t sampled_blocks = 5;
constexpr std::uint64_t sampled_accesses = 200;  // of each sampled warp

/// Lines that an access covers.
std::size_t count_lines(const ProgramCursor& cursor) {
  std::uint64_t elements[32];
  cursor.elements(elements);
  std::vector<std::uint64_t> lines;
  for (std::uint64_t element : elements) {
    lines.push_back(element * program_element_bytes / line_bytes);
  }
  std::ranges::sort(lines);
  return static_cast<std::size_t>(std::distance(lines.begin(), std::ranges::unique(lines).begin()));
}

double lines_of_kernel(const AccessProgram& program, const ProgramKernel& kernel) {
  std::size_t lines = 0;
  std::uint64_t accesses = 0;
  for (std::uint32_t sample = 0; sample < sampled_blocks; ++sample) {
    const ProgramWarp warp{.block_x = kernel.grid_x * sample / sampled_blocks,
                           .block_y = kernel.grid_y * sample / sampled_blocks,
                           .warp = sample % static_cast<std::uint32_t>(block_warps(kernel))};
    ProgramCursor cursor(program, kernel, warp);
    for (std::uint64_t i = 0; i < sampled_accesses && !cursor.at_end(); ++i, ++accesses) {
      lines += count_lines(cursor);
      cursor.advance();
    }
  }
  return accesses == 0 ? 1 : static_cast<double>(lines) / static_cast<double>(accesses);
}

/// 128-byte lines of an access, mean over sampled warps.
double lines_per_access(const AccessProgram& program) {
  const std::vector<std::uint64_t> shares = share_accesses(program, 1u << 20, 1);
  double lines = 0;
  double accesses = 0;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    lines += static_cast<double>(shares[at]) * lines_of_kernel(program, program.kernels[at]);
    accesses += static_cast<double>(shares[at]);
  }
  return lines / accesses;
}

/// One program on a device of its own; says on stderr how fast it was played.
ProgramStudy study(const PaperProgram& program, const Options& options) {
  constexpr std::uint64_t seed = 1;
  const BackendChoice backend = parse_backend("sim:" + options.model);
  const auto device = open_device(backend, list_visible_devices(backend, 0, seed).front(), seed);
  const double lines = lines_per_access(program.program);
  const auto accesses = static_cast<std::uint64_t>(static_cast<double>(options.lines) / lines);
  const auto begin = std::chrono::steady_clock::now();
  double played_lines = 0;
  ProgramStudy result = study_program(program, std::max<std::uint64_t>(accesses, 1000),
                                      [&](const std::string&, const ProgramProbe& probe) {
                                        Trace trace = device->run(probe);
                                        played_lines += read_outcome(trace).accesses * lines;
                                        return trace;
                                      });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  fmt::print(stderr, "{}: {:.0f} s, {:.2f} M lines/s\n", program.program.name, elapsed.count(),
             played_lines / elapsed.count() / 1e6);
  return result;
}

/// @return [program]
std::vector<ProgramStudy> study_all(const std::vector<PaperProgram>& programs,
                                    const Options& options) {
  std::vector<ProgramStudy> studies(programs.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < options.threads; ++i) {
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t at = next++; at < programs.size(); at = next++) {
        studies[at] = study(programs[at], options);
      }
    }));
  }
  for (std::future<void>& worker : workers) worker.get();
  return studies;
}

int run(int argc, char** argv) {
  CLI::App app{"plays the experiments of Dai 2016 on simulated Fermis and prints its figures"};
  Options options;
  app.add_option("--programs", options.programs, "only these, by comma: kms,atx")->delimiter(',');
  app.add_option("--lines", options.lines, "of each SM, in each play")->capture_default_str();
  app.add_option("--threads", options.threads, "programs at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--model", options.model, "a simulated GPU that can be changed")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::vector<PaperProgram> programs = paper_programs();
  if (!options.programs.empty()) {
    std::erase_if(programs, [&](const PaperProgram& one) {
      return std::ranges::count(options.programs, one.program.name) == 0;
    });
  }
  if (programs.empty()) throw std::runtime_error("none of the programs has such a name");
  fmt::print("{}", print_figures(study_all(programs, options)));
  return 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  try {
    return sonde::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "paper_figures: {}\n", error.what());
    return 1;
  }
}
