#include "base/standard_output.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace sonde {

void hold_standard_streams() {
  int held = 0;
  while (held >= 0 && held <= STDERR_FILENO) held = open("/dev/null", O_RDONLY);
  if (held > STDERR_FILENO) close(held);
}

void finish_output() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout.good() && std::ferror(stdout) == 0) return;
  throw StoreError(
      fmt::format("cannot write to standard output ({}; what was printed is not whole) print to a "
                  "place with room",
                  errno != 0 ? std::strerror(errno) : "is the disk full?"));
}

}  // namespace sonde
