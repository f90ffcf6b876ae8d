// One number in memory that is shared with forked processes.
#include "device/sim/gone.hpp"

#include "base/error.hpp"

#include <sys/mman.h>

#include <atomic>
#include <new>

namespace sonde::sim {
namespace {

/// The seed of the die that is gone; nothing: none is.
struct GoneDie {
  std::atomic<bool> is_gone = false;
  std::atomic<std::uint64_t> seed = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // or it would not span processes

GoneDie& gone_die() {
  static GoneDie* const shared = [] {
    void* memory =
        mmap(nullptr, sizeof(GoneDie), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no memory to share with other processes (mmap failed)");
    return new (memory) GoneDie;
  }();
  return *shared;
}

}  // namespace

void prepare_to_lose_gpus() { gone_die(); }

void lose_gpu(std::uint64_t seed_of_die) {
  gone_die().seed = seed_of_die;
  gone_die().is_gone = true;
}

bool is_gpu_gone(std::uint64_t seed_of_die) {
  return gone_die().is_gone && gone_die().seed == seed_of_die;
}

}  // namespace sonde::sim
