#include "base/text_file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace sonde {
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  const auto refuse = [&path](const std::string& cause, const char* advice) {
    throw ConfigError(fmt::format("cannot read '{}' ({}) {}", path.string(), cause, advice));
  };
  constexpr const char* look = "check its path and permissions";
  // O_NONBLOCK: do not wait for the other end of a pipe.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat state {};
  if (file < 0 || fstat(file, &state) != 0) refuse(std::strerror(errno), look);
  if (S_ISDIR(state.st_mode)) refuse("it is a folder", "name a file in it");
  if (!S_ISREG(state.st_mode)) refuse("it is no regular file", "copy what it gives into one");
  // Reads one byte more than allowed, since the file may grow.
  std::string text(most_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file, text.data() + size, text.size() - size);
    if (got < 0) refuse(std::strerror(errno), look);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most_bytes) {
    refuse(fmt::format("it is longer than {} bytes", most_bytes), "check that it is the right one");
  }
  text.resize(size);
  return text;
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(part, path, error);
  if (file && !error) return;
  const std::string cause = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(part, error);
  throw StoreError(
      fmt::format("cannot write '{}' ({}) choose another place with -o", path.string(), cause));
}

bool write_new_file(const std::filesystem::path& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  return file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace sonde
