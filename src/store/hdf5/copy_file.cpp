// sendfile: the data stay in the kernel.
#include "store/hdf5/copy_file.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <sys/sendfile.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

// Linux moves less than 2 GiB at a time.
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
  // A full disk takes a part, and tells its error when it is asked once more.
  while (check(sendfile(target, source, nullptr, most_at_once_bytes)) > 0) {
  }
}

}  // namespace sonde
