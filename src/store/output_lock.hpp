// One run at a time writes to an output.
#pragma once

#include <filesystem>
#include <string>

namespace sonde {

std::filesystem::path lock_path(const std::filesystem::path& parts);

/// Held by rank 0 from before it measures until its process ends, however it ends.
class OutputLock {
 public:
  /// Locks a parts folder that is there.
  /// @throws ConfigError if another run holds it, saying where that runs
  OutputLock(const std::filesystem::path& parts, const std::string& holder);
  ~OutputLock();
  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&&) = delete;

  /// Why there is no lock although nobody else holds one; empty if there is. For the log.
  const std::string& note() const { return note_; }

 private:
  int file_ = -1;
  std::string note_;
};

}  // namespace sonde
