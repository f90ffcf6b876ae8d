// sonde: read this, then jobs/suite.cpp, then one job, and you have seen the whole program.
#include "base/error.hpp"
#include "base/escape.hpp"
#include "base/log.hpp"
#include "base/standard_output.hpp"
#include "base/stop_signal.hpp"
#include "commands/commands.hpp"
#include "commands/finish.hpp"
#include "doctor/machine.hpp"
#include "store/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

namespace sonde {
namespace {

ExitStatus status_of(const std::exception& error) {
  const bool is_usage = dynamic_cast<const ConfigError*>(&error) != nullptr ||
                        dynamic_cast<const AgreedConfigError*>(&error) != nullptr;
  return is_usage ? ExitStatus::usage : ExitStatus::error;
}

/// A worker process does everything that touches a GPU; workers are forked by the keeper, which is
/// itself forked before MPI starts. The watch sets a deadline for everything that the ranks do
/// together, from the start of MPI to its end. The MPI session encloses the try: the catch can
/// still abort ranks that wait in MPI. No abort is needed if all ranks agreed on the error or if
/// there is only one rank (docs/running.md).
ExitStatus run_with_mpi(const RunOptions& options, int argc, char** argv) {
  // First: a batch system may send SIGUSR1 in the first second of a job, and by default it kills.
  note_stop_signals();
  prepare_store();  // before plan_run, which asks for the version of HDF5
  RunPlan plan =
      plan_run(options, repair_utf8(fmt::format("{}", fmt::join(argv, argv + argc, " "))));
  // While MPI starts or ends, no rank can end a rank that is stopped; the keeper does it.
  const std::chrono::seconds mpi_limit(static_cast<long>(1.5 * options.rendezvous_timeout_s) + 10);
  Keeper keeper(
      [&plan](const std::string& task, const RankLink& rank) { return do_task(plan, task, rank); },
      mpi_limit);
  const int asked_as_rank = launched_rank();
  if (asked_as_rank == 0) log_local(check_pmi(read_launch()).line);
  ask_devices(keeper, asked_as_rank);
  StageWatch watch(options.rendezvous_timeout_s);
  watch.enter({.name = "the start of MPI", .limits = 1.5});  // takes longest on large jobs
  MpiSession mpi(argc, argv);
  keeper.unbound_end();
  // Before the try: this check fails only if every process is alone, so no rank waits for another.
  const std::string alone = first_failure({check_launch(read_launch(), mpi.size())});
  if (!alone.empty()) throw ConfigError(alone);
  ExitStatus status = ExitStatus::error;
  try {
    status = run_fleet(
        plan, {.mpi = mpi, .keeper = keeper, .watch = watch, .asked_as_rank = asked_as_rank});
  } catch (const AgreedError& error) {
    log_world(error.what());
    status = status_of(error);
  } catch (const std::exception& error) {
    log_local(error.what());
    if (mpi.size() > 1) end_all_ranks(status_of(error));
    status = status_of(error);
  }
  watch.enter({.name = "the end of MPI", .status = status});
  // A rank that is alone gets no deadline: a reader may have paused its output (a pager).
  if (mpi.size() > 1) {
    keeper.bound_end(mpi_limit);
  } else {
    keeper.unbound_end();
  }
  return status;
}

ExitStatus run_command(int argc, char** argv) {
  const std::optional<Command> command = parse_command_line(argc, argv);
  if (!command) return ExitStatus::ok;  // help
  if (const auto* options = std::get_if<RunOptions>(&*command)) {
    if (!options->print_config) return run_with_mpi(*options, argc, argv);
    std::cout << to_toml(*options);
    return ExitStatus::ok;
  }
  prepare_store();
  return std::visit([](const auto& options) { return execute(options); },
                    std::get<FileCommand>(*command));
}

/// Keeps freed memory of up to 128 MiB in this process, and in its workers, for the next long list.
/// By default malloc returns lists of megabytes to the system each time, and the system must clear
/// and map the new pages (for a list of a million accesses this takes as long as all other work on
/// it).
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that it accepts
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

/// All ranks get the same command line, so only rank 0 reports an error in it.
int complain(std::string_view what, ExitStatus status) {
  if (launched_rank() == 0) log_local(what);
  return static_cast<int>(status);
}

/// Handles out of memory in a destructor or during error reporting: it allocates nothing and does
/// not call `abort`, except for another error.
[[noreturn]] void end_at_once() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fputs("sonde: out of memory\n", stderr);
    _exit(static_cast<int>(ExitStatus::error));
  } catch (...) {
  }
  std::abort();
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  using sonde::ExitStatus;
  sonde::hold_standard_streams();
  std::set_terminate(sonde::end_at_once);
  sonde::keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the size limit fails, and that is reported
  try {
    const ExitStatus status = sonde::run_command(argc, argv);
    sonde::finish_output();
    return static_cast<int>(status);
  } catch (const sonde::Error& error) {
    return sonde::complain(error.what(), sonde::status_of(error));
  } catch (const std::bad_alloc&) {
    return sonde::complain(
        "out of memory (what was asked for does not fit) use fewer ranks on this machine, or raise "
        "its limits (ulimit -v)",
        ExitStatus::error);
  } catch (const std::exception& error) {
    return sonde::complain(
        fmt::format("{} (an error that sonde did not expect) please report it with this command",
                    error.what()),
        ExitStatus::error);
  }
}
