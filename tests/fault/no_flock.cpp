// To be preloaded: a file system that refuses flock, as Lustre does when mounted without it.
#include <cerrno>

extern "C" int flock(int, int) {
  errno = ENOSYS;
  return -1;
}
