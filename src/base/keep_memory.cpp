// Two options of the GNU C library's malloc; without it nothing is asked for.
#include "base/keep_memory.hpp"

#include <malloc.h>

namespace sonde {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that it takes
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

}  // namespace sonde
