#include "base/stop_signal.hpp"

#include <csignal>
#include <initializer_list>

namespace sonde {
namespace {

volatile std::sig_atomic_t requested = 0;
volatile std::sig_atomic_t urgent = 0;

void note(int signal) {
  requested = 1;
  if (signal != SIGUSR1) urgent = 1;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);
}

}  // namespace

void note_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) sigaction(signal, &action, nullptr);
}

bool stop_requested() { return requested != 0; }

bool stop_is_urgent() { return urgent != 0; }

}  // namespace sonde
