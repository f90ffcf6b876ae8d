// Runs work in a forked child, which exits without destructors or exit handlers.
#include "store/hdf5/child.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace sonde {
namespace {

bool uses_mpi() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

[[noreturn]] void work_and_leave(const std::function<void()>& work) {
  const rlimit no_core_file{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_file);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  // Hides the messages of the allocator about corrupted memory.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) close(STDERR_FILENO);
  try {
    work();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

void try_in_child(const std::function<void()>& work) {
  if (uses_mpi()) return;
  const pid_t child = fork();
  if (child == 0) work_and_leave(work);
  if (child < 0) return;  // no more processes: the caller's own attempt reports errors
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return;
  throw StoreError(
      fmt::format("a process that read it ended with the signal '{}': it seems damaged",
                  strsignal(WTERMSIG(status))));
}

}  // namespace sonde
