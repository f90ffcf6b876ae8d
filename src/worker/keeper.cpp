// The keeper and its messages: each is a letter for its kind, then the text.
#include "worker/keeper.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/stop_signal.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;

// Messages from the rank to the keeper.
constexpr char start_letter = 'w';
constexpr char stop_letter = 's';
constexpr char kill_letter = 'k';
constexpr char bound_letter = 'b';
constexpr char unbound_letter = 'u';
// Messages to the rank, from the worker and from the keeper.
constexpr char said_letter = 't';
constexpr char ended_letter = 'e';

// Below the smallest default socket buffer of Linux (net.core.wmem_default, 212,992).
constexpr std::size_t longest_message = 128 * 1024;

void send_message(int socket, char letter, std::string_view text, int flags = 0) {
  require(text.size() < longest_message, "a message between processes is too long");
  const std::string message = letter + std::string(text);
  while (send(socket, message.data(), message.size(), flags | MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/// Nothing if the connection is closed.
std::optional<std::string> receive_message(int socket) {
  std::string message(longest_message, '\0');
  ssize_t length = 0;
  do {
    length = recv(socket, message.data(), message.size(), 0);
  } while (length < 0 && errno == EINTR);
  if (length <= 0) return std::nullopt;
  message.resize(static_cast<std::size_t>(length));
  return message;
}

/// Makes this process end when its parent ends.
void end_with_parent(int parent, const char* name) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  prctl(PR_SET_NAME, name);
}

[[noreturn]] void run_worker(const Keeper::Work& work, const std::string& task, int socket,
                             const sigset_t& mask) {
  note_stop_signals();
  std::signal(SIGINT, SIG_IGN);  // from a terminal; the rank gets it too and says when to stop
  sigprocmask(SIG_SETMASK, &mask, nullptr);  // delivers a stop signal that came since the fork
  int status = 1;
  try {
    status = work(task, RankLink(socket));
  } catch (const std::exception& error) {
    log_local(error.what());
  }
  std::fflush(nullptr);
  _exit(status);  // without freeing resources of a lost GPU, which could hang
}

std::string describe_end(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("ended with status {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  // The kernel sends SIGKILL when memory runs out, and logs it.
  const char* hint = signal == SIGKILL ? "; out of memory? see dmesg" : "";
  return fmt::format("was ended by signal {} ({}{})", signal, strsignal(signal), hint);
}

/// Forks workers and reports their end, until the rank closes the connection. If the end of the
/// rank has a deadline, it is watched until it is gone, since it may be stopped while it ends.
class KeeperLoop {
 public:
  KeeperLoop(const Keeper::Work& work, int socket, std::optional<std::chrono::seconds> limit)
      : work_(work), socket_(socket) {
    if (limit) end_ = Clock::now() + *limit;
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) std::signal(signal, SIG_IGN);
    // SIGCHLD is delivered only while ppoll waits. SIGUSR1 is blocked when a worker is forked, so
    // that it stays pending until the worker can handle it; an ignored signal would be lost.
    struct sigaction wake {};
    wake.sa_handler = [](int) {};
    sigaction(SIGCHLD, &wake, nullptr);
    sigset_t later{};
    sigemptyset(&later);
    sigaddset(&later, SIGCHLD);
    sigaddset(&later, SIGUSR1);
    sigprocmask(SIG_BLOCK, &later, &mask_);
  }

  void run() {
    while (true) {
      tell_end();
      pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
      const timespec second{.tv_sec = 1, .tv_nsec = 0};
      kill_late_rank();
      if (ppoll(&ready, 1, end_ ? &second : nullptr, &mask_) <= 0) continue;
      const auto message = receive_message(socket_);
      if (!message) break;
      obey(message->front(), message->substr(1));
    }
    if (worker_ > 0) ::kill(worker_, SIGKILL);
    while (end_) {
      kill_late_rank();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

 private:
  void kill_late_rank() const {
    if (end_ && Clock::now() > *end_) ::kill(getppid(), SIGKILL);  // this process then ends, too
  }

  void obey(char letter, const std::string& text) {
    if (letter == start_letter) start(text);
    if (letter == bound_letter) end_ = Clock::now() + std::chrono::seconds(std::stoi(text));
    if (letter == unbound_letter) end_.reset();
    if (worker_ > 0 && letter == stop_letter) ::kill(worker_, SIGUSR1);
    if (worker_ > 0 && letter == kill_letter) ::kill(worker_, SIGKILL);
  }

  void start(const std::string& task) {
    const int keeper = getpid();
    worker_ = fork();
    if (worker_ == 0) {
      end_with_parent(keeper, "sonde-worker");
      run_worker(work_, task, socket_, mask_);
    }
    if (worker_ < 0) {
      send_message(socket_, ended_letter,
                   fmt::format("could not be started ({})", std::strerror(errno)));
    }
  }

  void tell_end() {
    int status = 0;
    if (worker_ <= 0 || waitpid(worker_, &status, WNOHANG) != worker_) return;
    worker_ = -1;
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    send_message(socket_, ended_letter, well ? "" : describe_end(status));
  }

  const Keeper::Work& work_;
  int socket_;
  int worker_ = -1;
  std::optional<Clock::time_point> end_;  // deadline for the end of the rank
  sigset_t mask_{};
};

}  // namespace

void RankLink::say(const std::string& text) const { send_message(socket_, said_letter, text); }

void RankLink::mention(const std::string& text) const {
  send_message(socket_, said_letter, text, MSG_DONTWAIT);
}

Keeper::Keeper(const Work& work, std::optional<std::chrono::seconds> limit)
    : bounded_(limit.has_value()) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(fmt::format("cannot make a socket ({})", std::strerror(errno)));
  }
  std::fflush(nullptr);  // otherwise both processes would print the buffered text
  const int rank = getpid();
  keeper_ = fork();
  if (keeper_ < 0) throw Error(fmt::format("cannot start a process ({})", std::strerror(errno)));
  if (keeper_ == 0) {
    end_with_parent(rank, "sonde-keeper");
    close(ends[0]);
    KeeperLoop(work, ends[1], limit).run();
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
}

Keeper::~Keeper() {
  close(socket_);
  if (bounded_) return;
  ::kill(keeper_, SIGKILL);  // its worker ends with it
  waitpid(keeper_, nullptr, 0);
}

void Keeper::start(const std::string& task) { send_message(socket_, start_letter, task); }
void Keeper::stop() { send_message(socket_, stop_letter, ""); }
void Keeper::kill() { send_message(socket_, kill_letter, ""); }
void Keeper::bound_end(std::chrono::seconds limit) {
  bounded_ = true;
  send_message(socket_, bound_letter, std::to_string(limit.count()));
}
void Keeper::unbound_end() {
  bounded_ = false;
  send_message(socket_, unbound_letter, "");
}

std::optional<WorkerEvent> Keeper::next(std::chrono::milliseconds wait) {
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return std::nullopt;
  const auto message = receive_message(socket_);
  if (!message) {
    return WorkerEvent{.ended = true, .end = "is gone with its keeper, which was killed"};
  }
  const std::string text = message->substr(1);
  if (message->front() == said_letter) return WorkerEvent{.said = text};
  return WorkerEvent{.ended = true, .end = text, .well = text.empty()};
}

}  // namespace sonde
