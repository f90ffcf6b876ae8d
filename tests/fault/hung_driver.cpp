// A libcuda.so.1 that never comes back from being loaded, as a driver that waits for a sick GPU.
#include <unistd.h>

namespace {
[[gnu::constructor]] void hang() {
  while (true) pause();
}
}  // namespace
