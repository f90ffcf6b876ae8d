// Copies with sendfile, which keeps the data in the kernel.
#include "store/hdf5/copy_file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <sys/sendfile.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

// Linux copies less than 2 GiB in one call.
constexpr std::size_t most_at_once_bytes = std::size_t{1} << 30;

template <class Result>
Result check(Result result) {
  if (result < 0) throw StoreError(std::strerror(errno));
  return result;
}

}  // namespace

void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Descriptor source(check(open(from.c_str(), O_RDONLY | O_CLOEXEC)));
  const Descriptor target(check(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)));
  // On a full disk one call copies a part, and the next one returns the error.
  while (check(sendfile(target, source, nullptr, most_at_once_bytes)) > 0) {
  }
}

}  // namespace sonde
