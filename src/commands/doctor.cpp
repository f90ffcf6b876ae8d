// `sonde doctor`: looks at all that a run needs, and says what to do about it. What may hang - the
// driver, MPI, file systems - is looked at in a process each, at the same time, against a deadline.
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "doctor/judge_gpu.hpp"
#include "doctor/judge_host.hpp"
#include "doctor/read_folder.hpp"
#include "doctor/read_host.hpp"
#include "mpi/collectives.hpp"
#include "mpi/session.hpp"
#include "store/output.hpp"
#include "store/trial_file.hpp"
#include "worker/keeper.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <thread>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// All look at the same time, and ten seconds are promised. Without persistence mode a driver takes
// some 2 s for each GPU.
constexpr std::chrono::seconds look_limit{7};
constexpr std::chrono::seconds whole_limit{8};
constexpr auto poll_pause = std::chrono::milliseconds(50);

/// One process that looks, and what it says.
class Examination {
 public:
  using Tell = std::function<void(const Checks&)>;

  /// @param failure what it means if the process hangs or dies: its name, and what to do
  Examination(const Check& failure, const std::function<void(const Tell&)>& look)
      : failure_(failure), keeper_([failure, look](const std::string&, const RankLink& rank) {
          // One that cannot even be killed must not hold up who reads the report from a pipe.
          dup2(STDERR_FILENO, STDOUT_FILENO);
          const Tell tell = [&rank](const Checks& checks) { rank.say(to_json(checks)); };
          try {
            look(tell);
          } catch (const std::exception& error) {
            tell({{CheckVerdict::fail, failure.name, error.what(), failure.advice}});
          }
          return 0;
        }) {
    keeper_.start("");
  }

  /// What it said until it ended, or until the time was over.
  Checks wait(Clock::time_point end) {
    Checks checks;
    while (true) {
      const bool over = Clock::now() >= end;  // it may have spoken long ago all the same
      const auto event = keeper_.next(over ? std::chrono::milliseconds(0) : poll_pause);
      if (event && event->ended) {
        if (!event->well) checks.push_back(fail("the process that looks " + event->end));
        return checks;
      }
      if (event) {
        append(checks, checks_from_json(event->said));
      } else if (over) {
        checks.push_back(fail(fmt::format("no answer within {} s", look_limit.count())));
        return checks;
      }
    }
  }

 private:
  Check fail(std::string found) const {
    return {CheckVerdict::fail, failure_.name, std::move(found), failure_.advice};
  }

  Check failure_;
  Keeper keeper_;
};

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void look_at_gpus(const BackendChoice& backend, Sharing sharing, const Examination::Tell& tell) {
  const std::optional<DriverSurvey> survey = survey_driver(backend);
  if (!survey) return tell({{CheckVerdict::skipped, "gpus", "they are simulated"}});
  tell(judge_driver(*survey, variable("CUDA_VISIBLE_DEVICES")));
  tell({judge_mps(read_mps(), sharing)});
  if (survey->gpus.empty()) tell({{CheckVerdict::skipped, "gpu0", "no GPU to look at"}});
  for (const GpuSurvey& gpu : survey->gpus) {
    tell(judge_gpu(gpu, find_near_cpus(gpu.pci_bus_id), sharing));
  }
}

void look_at_mpi(const fs::path& trial, const Launch& launch, const Examination::Tell& tell) {
  const auto start = Clock::now();
  int argc = 0;
  char** argv = nullptr;
  MpiSession mpi(argc, argv);
  tell({judge_mpi_start({.rank = mpi.rank(),
                         .ranks = mpi.size(),
                         .start_s = std::chrono::duration<double>(Clock::now() - start).count()},
                        launch)});
  Check hdf5{.name = "hdf5", .found = store_library_version()};
  try {
    write_trial_file(broadcast_text(mpi.world(), trial.string()), mpi.world());
    hdf5.found += fmt::format(", parallel: {} rank(s) wrote a file together", mpi.size());
  } catch (const Error& error) {
    hdf5.verdict = CheckVerdict::fail;
    hdf5.found += fmt::format(" cannot write a file by MPI-IO: {}", error.what());
    hdf5.advice = "look at the line 'output', and at OMPI_MCA_io and HDF5_USE_FILE_LOCKING";
  }
  std::error_code ignored;
  if (mpi.rank() == 0) fs::remove(trial, ignored);
  tell({hdf5});
}

void look_at_files(const fs::path& folder, const Demand& demand, const Launch& launch,
                   const Examination::Tell& tell) {
  tell(judge_folder(read_folder(folder), demand, launch));
  tell({judge_shared_memory(read_shared_memory(), launch)});
}

Checks judge_mpi_environment() {
  std::vector<MpiOverride> overrides;
  for (const MpiSetting& setting : mpi_settings()) {
    const auto value = variable(setting.name);
    if (value && *value != setting.value)
      overrides.push_back({setting.name, *value, setting.value});
  }
  return {{CheckVerdict::ok, "mpi.library", mpi_library_version()}, judge_mpi_settings(overrides)};
}

Checks judge_host(const Demand& demand, const Launch& launch) {
  Checks checks{judge_cpus(read_cpus(), launch), judge_memory(read_memory(), demand, launch)};
  append(checks, judge_limits(read_limits(), demand, launch));
  return checks;
}

void print(const DoctorOptions& options, const Checks& checks, const Launch& launch) {
  std::cout << (options.format == DoctorFormat::json
                    ? render_checks_json(checks, node_name())
                    : render_checks(checks, launch.ranks > 1 ? node_name() : ""))
            << std::flush;
}

}  // namespace

ExitStatus execute(const DoctorOptions& options) {
  const RunOptions& run = options.run;
  const BackendChoice backend = parse_backend(run.backend);
  if (!backend.models.empty()) check_backend(backend);
  const Launch launch = read_launch();
  const Demand demand = predict_demand(run.suite);
  const Sharing sharing = run.allow_shared_gpu ? Sharing::allowed : Sharing::refused;
  const fs::path parent = fs::path(run.output).parent_path();
  const fs::path folder = parent.empty() ? "." : parent;
  const fs::path trial = folder / fmt::format(".sonde-doctor-{}.h5", getpid());

  const auto start = Clock::now();
  const auto end = start + look_limit;
  Examination mpi(
      {.name = "mpi.start",
       .advice = "read what MPI says on stderr; start it as its run: srun --mpi=pmix, mpirun"},
      [&](const auto& tell) { look_at_mpi(trial, launch, tell); });
  Checks checks;
  if (launch.local_rank == 0) {  // one rank speaks for its node
    Examination gpus(
        {.name = "driver",
         .advice = "look at nvidia-smi and dmesg; switch persistence mode on (nvidia-smi -pm 1)"},
        [&](const auto& tell) { look_at_gpus(backend, sharing, tell); });
    Examination files({.name = "output", .advice = "the file system hangs: choose another with -o"},
                      [&](const auto& tell) { look_at_files(folder, demand, launch, tell); });
    append(checks, gpus.wait(end));
    append(checks, judge_host(demand, launch));
    append(checks, judge_mpi_environment());
    append(checks, mpi.wait(end));
    const Checks output = files.wait(end);
    std::error_code ignored;
    if (!has_failure(output)) fs::remove(trial, ignored);  // in case that MPI was stuck
    append(checks, output);
    print(options, checks, launch);
  } else {
    checks = mpi.wait(end);
  }
  if (!has_failure(checks)) return ExitStatus::ok;
  // mpirun ends all ranks at the first that fails: the others shall have spoken.
  if (launch.ranks > 1) std::this_thread::sleep_until(start + whole_limit);
  return ExitStatus::incomplete;
}

}  // namespace sonde
