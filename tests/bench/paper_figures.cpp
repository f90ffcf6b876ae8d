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
#include <exception>
#include <mutex>
#include <thread>

namespace sonde {
namespace {

struct Options {
  std::vector<std::string> programs;  // empty: all
  std::uint64_t lines = 500000;       // of each SM, in each play
  unsigned threads = 2;
  std::uint64_t seed = 1;
  std::string model = "fermi_dac16";
};

/// What all plays of a program simulated.
struct Work {
  double cycles = 0;
  double lines = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    for (PaperProgram& program : paper_programs()) {
      const bool wanted = options.programs.empty() ||
                          std::ranges::count(options.programs, program.program.name) > 0;
      if (wanted) programs_.push_back(std::move(program));
    }
    if (programs_.empty()) throw std::runtime_error("none of the programs has such a name");
    studies_.resize(programs_.size());
  }

  void run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

  const std::vector<ProgramStudy>& studies() const { return studies_; }
  const Work& total() const { return total_; }

 private:
  void work() {
    try {
      for (std::size_t at = next_++; at < programs_.size(); at = next_++) play(at);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
  }

  void play(std::size_t at) {
    const auto begin = std::chrono::steady_clock::now();
    const auto device = open_simulated(options_);
    const double lines = lines_per_access(programs_[at].program);
    const auto accesses = static_cast<std::uint64_t>(static_cast<double>(options_.lines) / lines);
    Work work;
    studies_[at] = study_program(programs_[at], std::max<std::uint64_t>(accesses, 1000),
                                 [&](const std::string&, const ProgramProbe& probe) {
                                   Trace trace = device->run(probe);
                                   const StudyOutcome outcome = read_outcome(trace);
                                   work.cycles += outcome.cycles;
                                   work.lines += outcome.accesses * lines;
                                   return trace;
                                 });
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const std::lock_guard lock(mutex_);
    fmt::print(stderr, "{}: {:.0f} s, {:.2f} M lines/s, {:.2f} M cycles/s\n",
               programs_[at].program.name, elapsed.count(), work.lines / elapsed.count() / 1e6,
               work.cycles / elapsed.count() / 1e6);
    total_.cycles += work.cycles;
    total_.lines += work.lines;
  }

  static std::unique_ptr<Device> open_simulated(const Options& options) {
    const BackendChoice backend = parse_backend("sim:" + options.model);
    return open_device(backend, list_visible_devices(backend, 0, options.seed).front(),
                       options.seed);
  }

  Options options_;
  std::vector<PaperProgram> programs_;
  std::vector<ProgramStudy> studies_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  Work total_;
  std::exception_ptr error_;
};

int run(int argc, char** argv) {
  CLI::App app{"plays the experiments of Dai 2016 on simulated Fermis and prints its figures"};
  Options options;
  app.add_option("--programs", options.programs, "only these, by comma: kms,atx")->delimiter(',');
  app.add_option("--lines", options.lines, "of each SM, in each play")->capture_default_str();
  app.add_option("--threads", options.threads, "programs at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options.seed, "of the device")->capture_default_str();
  app.add_option("--model", options.model, "a simulated GPU that can be changed")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto begin = std::chrono::steady_clock::now();
  Bench bench(options);
  bench.run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  fmt::print("{}", print_figures(bench.studies()));
  fmt::print("{} programs, {} lines an SM: {:.0f} s; {:.2f} M lines/s, {:.2f} M cycles/s\n",
             bench.studies().size(), options.lines, elapsed.count(),
             bench.total().lines / elapsed.count() / 1e6,
             bench.total().cycles / elapsed.count() / 1e6);
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
