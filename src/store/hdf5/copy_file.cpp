// sendfile: the data stay in the kernel.
#include "store/hdf5/copy_file.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

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

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : number_(check(open(path.c_str(), flags | O_CLOEXEC, 0666))) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

void copy_whole_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Descriptor source(from, O_RDONLY);
  const Descriptor target(to, O_WRONLY | O_CREAT | O_TRUNC);
  // A full disk takes a part, and tells its error when it is asked once more.
  while (check(sendfile(target.number(), source.number(), nullptr, most_at_once_bytes)) > 0) {
  }
}

}  // namespace sonde
