// `builder.<n>` names the rank that has the n-th try, `built` holds the result.
#include "fleet/claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace sonde {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto poll_pause = std::chrono::milliseconds(100);
// Each try needs a rank that died in the one before.
constexpr int most_tries = 8;

fs::path claim_file(const fs::path& parts, int attempt) {
  return parts / fmt::format("builder.{}", attempt);
}
fs::path result_file(const fs::path& parts) { return parts / "built"; }

std::optional<int> read_number(const fs::path& path) {
  std::ifstream file(path);
  int number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

bool write_new(const fs::path& path, int number) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string text = fmt::format("{}\n", number);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

/// The result of the rank that has this try; nothing if it was lost over it.
std::optional<ExitStatus> await_result(const fs::path& parts, int attempt, const Patience& patience,
                                       const Lookout& lookout) {
  std::uint64_t last_sign = 0;
  auto seen = Clock::now();
  while (Clock::now() - seen < std::chrono::duration<double>(patience.silence_s)) {
    if (const auto status = read_number(result_file(parts))) {
      return static_cast<ExitStatus>(*status);
    }
    const auto owner = read_number(claim_file(parts, attempt));
    const std::uint64_t sign = owner && lookout.sign_of_life ? lookout.sign_of_life(*owner) : 0;
    if (sign != last_sign) seen = Clock::now();
    last_sign = sign;
    if (lookout.on_poll) lookout.on_poll();
    std::this_thread::sleep_for(poll_pause);
  }
  return std::nullopt;
}

}  // namespace

ExitStatus do_once(const fs::path& parts, int rank, const std::function<ExitStatus()>& work,
                   const Patience& patience, const Lookout& lookout) {
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    if (write_new(claim_file(parts, attempt), rank)) {
      const ExitStatus status = work();
      write_new(result_file(parts), static_cast<int>(status));
      return status;
    }
    if (const auto status = await_result(parts, attempt, patience, lookout)) return *status;
  }
  return ExitStatus::error;
}

void clear_claims(const fs::path& parts) {
  std::error_code ignored;
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    fs::remove(claim_file(parts, attempt), ignored);
  }
  fs::remove(result_file(parts), ignored);
}

}  // namespace sonde
