// `sonde doctor`: reads all that a run needs, and prints every check of it. What may hang - the
// driver, MPI, file systems - is read in a process each, at the same time, against a deadline.
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "doctor/checks.hpp"
#include "mpi/collectives.hpp"
#include "mpi/session.hpp"
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

  /// @param name, advice of the failure if the process hangs or dies
  Examination(const char* name, const char* advice, const std::function<void(const Tell&)>& look)
      : name_(name),
        advice_(advice),
        keeper_([this, look](const std::string&, const RankLink& rank) {
          // One that cannot even be killed must not hold up who reads the report from a pipe.
          dup2(STDERR_FILENO, STDOUT_FILENO);
          const Tell tell = [&rank](const Checks& checks) { rank.say(to_json(checks)); };
          try {
            look(tell);
          } catch (const std::exception& error) {
            tell({fail(error.what())});
          }
          return 0;
        }) {
    keeper_.start("");
  }

  /// Appends what it said until it ended, or until the time was over.
  void wait(Clock::time_point end, Checks& checks) {
    while (true) {
      const bool over = Clock::now() >= end;  // it may have spoken long ago all the same
      const auto event = keeper_.next(over ? std::chrono::milliseconds(0) : poll_pause);
      if (event && !event->ended) {
        std::ranges::move(checks_from_json(event->said), std::back_inserter(checks));
      } else if (event || over) {
        if (!event)
          checks.push_back(fail(fmt::format("no answer within {} s", look_limit.count())));
        if (event && !event->well) checks.push_back(fail("the process that looks " + event->end));
        return;
      }
    }
  }

 private:
  Check fail(const std::string& found) const {
    return {CheckVerdict::fail, name_, fmt::format("{} -> {}", found, advice_)};
  }

  std::string name_;
  std::string advice_;
  Keeper keeper_;
};

void look_at_gpus(const BackendChoice& backend, Facts facts, const Examination::Tell& tell) {
  const std::optional<DriverSurvey> survey = survey_driver(backend);
  if (!survey) return tell({{CheckVerdict::skipped, "gpus", "they are simulated"}});
  facts.driver = *survey;
  facts.mps_runs = is_mps_running();
  if (const char* devices = std::getenv("CUDA_VISIBLE_DEVICES")) facts.visible_devices = devices;
  tell(judge(Subject::driver, facts));
  for (const GpuSurvey& gpu : survey->gpus) {
    facts.gpu = gpu;
    const NearCpus near = find_near_cpus(gpu.pci_bus_id);
    facts.near_cpus = near.problem.empty() ? std::optional(near) : std::nullopt;
    tell(judge(Subject::gpu, facts));
  }
}

void look_at_mpi(const fs::path& trial, Facts facts, const Examination::Tell& tell) {
  const auto start = Clock::now();
  int argc = 0;
  char** argv = nullptr;
  MpiSession mpi(argc, argv);
  facts.mpi = {.rank = mpi.rank(),
               .ranks = mpi.size(),
               .start_s = std::chrono::duration<double>(Clock::now() - start).count()};
  facts.host.mpi_library = mpi_library_version();
  try {
    write_trial_file(broadcast_text(mpi.world(), trial.string()), mpi.world());
  } catch (const Error& error) {
    facts.mpi.hdf5_problem = error.what();
  }
  std::error_code ignored;
  if (mpi.rank() == 0) fs::remove(trial, ignored);
  tell(judge(Subject::mpi, facts));
}

std::vector<std::string> find_mpi_overrides() {
  std::vector<std::string> overrides;
  for (const MpiSetting& setting : mpi_settings()) {
    const char* value = std::getenv(setting.name);
    if (value == nullptr || std::string_view(value) == setting.value) continue;
    overrides.push_back(
        fmt::format("{}={} (sonde would choose {})", setting.name, value, setting.value));
  }
  return overrides;
}

}  // namespace

ExitStatus execute(const DoctorOptions& options) {
  const RunOptions& run = options.run;
  const BackendChoice backend = parse_backend(run.backend);
  if (!backend.models.empty()) check_backend(backend);
  Facts facts{.demand = predict_demand(run.suite),
              .sharing = run.allow_shared_gpu ? Sharing::allowed : Sharing::refused,
              .launch = read_launch()};
  const fs::path folder = folder_of(run.output);
  const fs::path trial = folder / fmt::format(".sonde-doctor-{}.h5", getpid());
  const auto start = Clock::now();
  const auto end = start + look_limit;
  Checks checks;
  Examination mpi("mpi.start",
                  "read what MPI says on stderr; start it as its run: srun --mpi=pmix, mpirun",
                  [&](const auto& tell) { look_at_mpi(trial, facts, tell); });
  if (facts.launch.local_rank == 0) {  // one rank speaks for its node
    Examination gpus("driver",
                     "look at nvidia-smi and dmesg; switch persistence mode on (nvidia-smi -pm 1)",
                     [&](const auto& tell) { look_at_gpus(backend, facts, tell); });
    Examination files("output", "the file system hangs: choose another with -o",
                      [&](const auto& tell) {
                        facts.folder = read_folder(folder);
                        tell(judge(Subject::folder, facts));
                      });
    gpus.wait(end, checks);
    facts.host = read_host();
    facts.host.mpi_overrides = find_mpi_overrides();
    std::ranges::move(judge(Subject::host, facts), std::back_inserter(checks));
    std::ranges::move(judge(Subject::launch, facts), std::back_inserter(checks));
    mpi.wait(end, checks);
    files.wait(end, checks);
    std::error_code ignored;
    // In case that MPI was stuck; where the file system hangs, this would, too.
    if (checks.back().verdict != CheckVerdict::fail) fs::remove(trial, ignored);
    std::cout << (options.format == DoctorFormat::json
                      ? render_checks_json(checks, node_name())
                      : render_checks(checks, facts.launch.ranks > 1 ? node_name() : ""))
              << std::flush;
  } else {
    mpi.wait(end, checks);
  }
  if (!has_failure(checks)) return ExitStatus::ok;
  // mpirun ends all ranks at the first that fails: the others shall have spoken.
  if (facts.launch.ranks > 1) std::this_thread::sleep_until(start + whole_limit);
  return ExitStatus::incomplete;
}

}  // namespace sonde
