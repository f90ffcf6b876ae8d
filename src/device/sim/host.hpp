// The machine that plays the simulated GPU: its memory, and what it takes to play a hundred million
// accesses in seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

/// For what every access passes through: GCC takes such functions for too long to be inlined, but
/// the calls would be a quarter of all instructions.
#define SONDE_HOT [[gnu::always_inline]] inline

namespace sonde::sim {

inline constexpr std::size_t host_line_bytes = 64;  // of every x86-64 and most ARM processors
inline constexpr std::uint32_t host_line_words = host_line_bytes / sizeof(std::uint64_t);

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

}  // namespace sonde::sim
