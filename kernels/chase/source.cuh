// What a chase steps through: how a place is named there, how it is read, and how a script's step
// becomes a place. What was read is itself a place (chains) or a zero (scripts); the arithmetic of
// at() stands outside of timed windows.
#pragma once

#include "kernels/chase/chase.hpp"
#include "kernels/timing.cuh"

namespace sonde::kernels {

/// Sources whose loads need nothing before the timed window. Others do it in make_ready() and
/// return from readied() a zero that depends on it.
struct ReadySource {
  static __device__ __forceinline__ void make_ready() {}
  static __device__ __forceinline__ std::uint32_t readied() { return 0; }
};

/// Places that are numbers.
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

/// Exposes the way to the point of coherence: an addition of nothing, done where the line is kept.
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
