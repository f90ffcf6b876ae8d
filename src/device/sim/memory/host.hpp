// The machine that plays the simulated GPU: its memory, and what it takes to play a hundred million
// accesses in seconds. Used by the caches of this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// For what every access passes through: GCC takes such functions for too long to be inlined, but
/// the calls would be a quarter of all instructions.
#define SONDE_HOT [[gnu::always_inline]] inline

namespace sonde::sim {

inline constexpr std::size_t host_line_bytes = 64;  // of every x86-64 and most ARM processors
inline constexpr std::uint32_t host_line_words = host_line_bytes / sizeof(std::uint64_t);

/// Memory in whole lines of the host, so that a set spans as few of them as it can.
struct alignas(host_line_bytes) HostLine {
  std::array<std::uint64_t, host_line_words> words{};
};

/// The host fetches this memory, to be read and written soon. The empty asm is an effect: without
/// one GCC 12 takes functions that only prefetch for pure ones and drops their calls.
inline void fetch_ahead(const void* memory) {
  __builtin_prefetch(memory, 1);
  asm volatile("");
}

}  // namespace sonde::sim
