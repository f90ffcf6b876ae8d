// Where the sets of a cache lie in the host's memory. Used by cache_array.hpp.
#pragma once

#include "device/sim/model.hpp"

#include <cstddef>
#include <new>
#include <vector>

namespace sonde::sim {

inline constexpr std::size_t host_line_bytes = 64;  // of every x86-64 and most ARM processors

/// The host fetches this memory, to be read and written soon. The empty asm is an effect: without
/// one GCC 12 takes functions that only prefetch for pure ones and drops their calls.
inline void fetch_ahead(const void* memory) {
  __builtin_prefetch(memory, 1);
  asm volatile("");
}

/// Allocates at the begin of a host line, so that a set spans as few of them as it can.
template <class T>
struct HostLineAllocator {
  using value_type = T;
  HostLineAllocator() = default;
  template <class U>
  explicit HostLineAllocator(const HostLineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{host_line_bytes}));
  }
  void deallocate(T* memory, std::size_t) {
    ::operator delete (memory, std::align_val_t{host_line_bytes});
  }
  bool operator==(const HostLineAllocator&) const = default;
};

template <class T>
using HostLineVector = std::vector<T, HostLineAllocator<T>>;

/// The slots of one set: one for each way.
struct SetShape {
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
};

/// The slots of all sets. Equal sets that fill half a host line or more begin at one.
class SetLayout {
 public:
  /// @param slots_per_host_line power of two
  SetLayout(const Geometry& geometry, std::uint32_t slots_per_host_line);

  SetShape operator[](std::uint32_t set) const {
    return shapes_.empty() ? SetShape{set * stride_, ways_} : shapes_[set];
  }
  std::uint32_t slots() const { return slots_; }

 private:
  std::uint32_t ways_ = 0;    // of each set, if they are equal
  std::uint32_t stride_ = 0;  // slots from one set to the next, if they are equal
  std::uint32_t slots_ = 0;
  std::vector<SetShape> shapes_;  // if they are not
};

}  // namespace sonde::sim
