// `sonde doctor`: makes every check of a machine and prints the results. The driver, MPI and file
// systems may hang, so processes check them at the same time, with a deadline.
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "doctor/gpus.hpp"
#include "doctor/machine.hpp"
#include "mpi/collectives.hpp"
#include "mpi/session.hpp"
#include "store/write_together.hpp"
#include "worker/keeper.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using enum CheckVerdict;

// `doctor` promises an answer in ten seconds, and the checks run at the same time. Without
// persistence mode the driver takes some 2 s for each GPU.
constexpr std::chrono::seconds look_limit{7};
constexpr std::chrono::seconds whole_limit{8};

/// A process that makes some checks, and the lines that it reports.
class Examination {
 public:
  /// @param name, advice for the failure that is reported if the process hangs or dies
  Examination(const char* name, const char* advice, const std::function<Checks()>& look)
      : name_(name),
        advice_(advice),
        keeper_([this, look](const std::string&, const RankLink& rank) {
          // A process that cannot be killed must not keep stdout: a reader of the pipe would wait.
          dup2(STDERR_FILENO, STDOUT_FILENO);
          try {
            rank.say(render_checks(look()));
          } catch (const std::exception& error) {
            rank.say(failure(error.what()));
          }
          return 0;
        }) {
    keeper_.start("");
  }

  /// Returns what the process reported until it ended or the time was over.
  std::string wait(Clock::time_point end) {
    std::string said;
    while (true) {
      const bool over = Clock::now() >= end;  // there may still be reports that were not read
      const auto event = keeper_.next(std::chrono::milliseconds(over ? 0 : 50));
      if (event && !event->ended) {
        said += event->said;
      } else if (event) {
        return event->well ? said : said + failure("the process that looks " + event->end);
      } else if (over) {
        return said + failure(fmt::format("no answer within {} s", look_limit.count()));
      }
    }
  }

 private:
  std::string failure(const std::string& found) const {
    return render_checks({{fail, name_, fmt::format("{} -> {}", found, advice_)}});
  }

  const char* name_;
  const char* advice_;
  Keeper keeper_;
};

Checks look_at_gpus(const BackendChoice& backend, bool may_share) {
  const std::optional<DriverSurvey> driver = survey_driver(backend);
  if (!driver) return {{skipped, "gpus", "they are simulated"}};
  Checks checks = check_driver(*driver);
  for (const GpuSurvey& gpu : driver->gpus) {
    for (const Check& check : check_gpu(gpu, may_share)) checks.push_back(check);
  }
  return checks;
}

Checks look_at_mpi(const fs::path& trial, const Launch& launch) {
  const auto start = Clock::now();
  int argc = 0;
  char** argv = nullptr;
  const MpiSession mpi(argc, argv);
  const double start_s = std::chrono::duration<double>(Clock::now() - start).count();
  std::string problem;
  try {
    write_trial_file(mpi.world(), broadcast_text(mpi.world(), trial.string()));
  } catch (const Error& error) {
    problem = error.what();
  }
  std::error_code ignored;
  if (mpi.rank() == 0) fs::remove(trial, ignored);
  return {{ok, "mpi",
           fmt::format("rank {} of {} in {:.1f} s, {}", mpi.rank(), mpi.size(), start_s,
                       mpi_library_version())},
          check_launch(launch, mpi.size()),
          check("hdf5", !problem.empty(), fail,
                problem + " -> look at 'output', OMPI_MCA_io, HDF5_USE_FILE_LOCKING")};
}

/// Prints the lines and a summary, each line after the name of the speaker (if not empty).
void print_report(const std::string& lines, bool failed, const std::string& speaker) {
  std::istringstream text(
      lines + (failed ? "this machine cannot measure as it is\n" : "this machine can measure\n"));
  for (std::string line; std::getline(text, line);) std::cout << speaker << line << '\n';
  std::cout << std::flush;
}

}  // namespace

ExitStatus execute(const DoctorOptions& options) {
  const RunOptions& run = options.run;
  const BackendChoice backend = parse_backend(run.backend);
  if (!backend.models.empty()) check_backend(backend);
  const Launch launch = read_launch();
  const fs::path folder = folder_of(run.output);
  const fs::path trial = folder / fmt::format(".sonde-doctor-{}.h5", getpid());
  const auto start = Clock::now();
  const auto end = start + look_limit;
  const bool speaks = launch.local_rank == 0;  // one rank speaks for its node
  std::string lines;
  Examination mpi("mpi", "read what MPI says; start it as its run: srun --mpi=pmix, mpirun",
                  [&] { return look_at_mpi(trial, launch); });
  if (speaks) {
    Examination gpus("driver",
                     "look at nvidia-smi and dmesg; switch persistence mode on (nvidia-smi -pm 1)",
                     [&] { return look_at_gpus(backend, run.allow_shared_gpu); });
    Examination files("output", "the file system hangs: choose another with -o", [&] {
      Checks checks = check_folder(folder);
      checks.push_back(check_space(launch, folder, run.suite));
      return checks;
    });
    lines = render_checks({check_pmi(launch)}) + gpus.wait(end) + mpi.wait(end);
    const std::string place = files.wait(end);
    // Removes the trial file if MPI hung. If the file system hangs, the removal would hang too.
    std::error_code ignored;
    if (!place.starts_with("fail")) fs::remove(trial, ignored);
    lines += place;
  } else {
    lines = mpi.wait(end);
  }
  const bool failed = lines.starts_with("fail") || lines.find("\nfail") != std::string::npos;
  if (speaks) print_report(lines, failed, launch.ranks > 1 ? node_name() + "  " : "");
  if (!failed) return ExitStatus::ok;
  // mpirun ends all ranks when the first one fails, so wait until the others have reported.
  if (launch.ranks > 1) std::this_thread::sleep_until(start + whole_limit);
  return ExitStatus::incomplete;
}

}  // namespace sonde
