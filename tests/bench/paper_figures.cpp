// Plays the experiments of Dai et al. (DAC 2016) on simulated Fermis, one program for each, several
// at a time, and prints the paper's figures. docs/methods/bypass.md says what they mean.
#include "jobs/bypass/paper_figures.hpp"
#include "device/open_device.hpp"
#include "jobs/bypass/programs.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>

namespace sonde {
namespace {

struct Options {
  std::vector<std::string> programs;  // empty: all
  std::uint64_t lines = 500000;       // of each SM, in each play
  unsigned threads = 2;
  std::string model = "fermi_dac16";
};

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
