// Sources of a chase: the form of a place, how to load from it, and how a step of a script becomes
// a place. A loaded value is a place (chains) or a zero (scripts). at() runs outside timed windows.
#pragma once

#include "kernels/chase/chase.hpp"
#include "kernels/timing.cuh"

namespace sonde::kernels {

/// Sources whose loads need no preparation. Others prepare in make_ready(), and return from
/// readied() a zero that depends on it.
struct ReadySource {
  static __device__ __forceinline__ void make_ready() {}
  static __device__ __forceinline__ std::uint32_t readied() { return 0; }
};

template <class Number>
struct NumberPlaces {
  using Place = Number;
  static __device__ __forceinline__ Place from_word(std::uint64_t word) {
    return static_cast<Place>(word);
  }
  static __device__ __forceinline__ std::uint64_t to_word(Place place) { return place; }
};

/// Places that are 64-bit addresses.
struct AddressPlaces : NumberPlaces<std::uint64_t> {
  static __device__ __forceinline__ Place at(Place base, std::uint32_t step, std::uint32_t unit,
                                             Place zero) {
    Place place;
    asm volatile("mad.wide.u32 %0, %1, %2, %3;"
                 : "=l"(place)
                 : "r"(step), "r"(unit), "l"(base + zero));
    return place;
  }
};

/// Places that are 32-bit offsets or indices.
struct IndexPlaces : NumberPlaces<std::uint32_t> {
  static __device__ __forceinline__ Place at(Place base, std::uint32_t step, std::uint32_t unit,
                                             Place zero) {
    Place place;
    asm volatile("mad.lo.u32 %0, %1, %2, %3;"
                 : "=r"(place)
                 : "r"(step), "r"(unit), "r"(base + zero));
    return place;
  }
};

template <Load load_kind>
class GlobalSource : public AddressPlaces, public ReadySource {
 public:
  explicit __device__ GlobalSource(const ChaseLaunch&) {}
  __device__ __forceinline__ Place load(Place place) const { return load_global<load_kind>(place); }
};

/// Latency to the point of coherence: adds 0 where the line is kept.
class AtomicSource : public AddressPlaces, public ReadySource {
 public:
  explicit __device__ AtomicSource(const ChaseLaunch&) {}
  __device__ __forceinline__ Place load(Place place) const {
    Place value;
    asm volatile("atom.global.add.u64 %0, [%1], 0;" : "=l"(value) : "l"(place) : "memory");
    return value;
  }
};

}  // namespace sonde::kernels
