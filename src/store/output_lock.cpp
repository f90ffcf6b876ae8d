// flock: the system lets go of it when the process ends, so that no dead run blocks the next one.
#include "store/output_lock.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace sonde {

std::filesystem::path lock_path(const std::filesystem::path& parts) { return parts / "lock"; }

OutputLock::OutputLock(const std::filesystem::path& parts, const std::string& holder) {
  const std::filesystem::path path = lock_path(parts);
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) == 0) {
    static_cast<void>(ftruncate(file_, 0));
    static_cast<void>(pwrite(file_, holder.data(), holder.size(), 0));
    return;
  }
  const int error = errno;
  if (file_ >= 0 && error == EWOULDBLOCK) {
    std::ifstream file(path);
    std::string other;
    std::getline(file, other);
    throw ConfigError(
        fmt::format("'{}' is being written by another run ({}) wait for it, or choose another "
                    "name with -o",
                    parts.string(), other.empty() ? "not known where" : other));
  }
  note_ = fmt::format("'{}' cannot be locked ({}): see to it that no other run writes there",
                      parts.string(), std::strerror(error));
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), note_(std::move(other.note_)) {}

OutputLock::~OutputLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace sonde
