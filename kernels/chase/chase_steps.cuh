// The kinds of chases for the chase kernels. A chase does its arithmetic in prepare(), outside the
// timed window; the window contains only access().
#pragma once

#include "kernels/chase/chase.hpp"
#include "kernels/chase/source.cuh"
#include "kernels/timing.cuh"

namespace sonde::kernels {

/// Latency of one load: its place is the value of the load before.
template <class Source_>
class ChainChase {
 public:
  using Source = Source_;
  __device__ ChainChase(const Source& source, const ChaseTask& task, std::uint32_t, std::uint32_t)
      : source_(source), place_(Source::from_word(task.start)) {}
  __device__ __forceinline__ void prepare() {}
  __device__ __forceinline__ void make_ready() { source_.make_ready(); }
  __device__ __forceinline__ void step() { place_ = source_.load(place_); }
  /// The store waits for the load, and so delays the clock read after it.
  __device__ __forceinline__ void access(std::uint32_t sink) {
    step();
    settle(sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t sink) {
    store_shared_u32(sink, static_cast<std::uint32_t>(Source::to_word(place_)));
  }
  __device__ std::uint64_t final_value() const {
    return Source::to_word(place_) + source_.readied();
  }

 private:
  Source source_;
  typename Source::Place place_;
};

/// Reads a list in shared memory again and again.
class Script {
 public:
  __device__ Script(std::uint32_t address, std::uint32_t length)
      : begin_(address), end_(address + length * 4), at_(address) {}
  __device__ __forceinline__ std::uint32_t next() {
    const std::uint32_t step = load_shared_u32(at_);
    at_ = at_ + 4 == end_ ? begin_ : at_ + 4;
    return step;
  }

 private:
  std::uint32_t begin_;
  std::uint32_t end_;
  std::uint32_t at_;
};

/// For lists with more accesses to a sector than it has words. Loaded values are zero, but the
/// compiler does not know it: adding them keeps the chain dependent.
template <class Source_>
class ScriptChase {
 public:
  using Source = Source_;
  __device__ ScriptChase(const Source& source, const ChaseTask& task, std::uint32_t script,
                         std::uint32_t unit)
      : source_(source),
        script_(script, task.script_length),
        base_(Source::from_word(task.start)),
        unit_(unit) {}
  __device__ __forceinline__ void prepare() {
    place_ = Source::at(base_, script_.next(), unit_, value_);
  }
  __device__ __forceinline__ void make_ready() { source_.make_ready(); }
  __device__ __forceinline__ void step() { value_ = source_.load(place_); }
  __device__ __forceinline__ void access(std::uint32_t sink) {
    step();
    settle(sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t sink) {
    store_shared_u32(sink, static_cast<std::uint32_t>(Source::to_word(value_)));
  }
  __device__ std::uint64_t final_value() const {
    return Source::to_word(value_) + source_.readied();
  }

 private:
  Source source_;
  Script script_;
  typename Source::Place base_;
  typename Source::Place place_{};
  typename Source::Place value_{};
  std::uint32_t unit_;
};

/// No load: the cost of the clock reads, alone or with the sink's store.
template <Overhead overhead>
class NoChase {
 public:
  struct Source {
    explicit __device__ Source(const ChaseLaunch&) {}
  };
  __device__ NoChase(const Source&, const ChaseTask&, std::uint32_t, std::uint32_t) {}
  __device__ __forceinline__ void prepare() {}
  __device__ __forceinline__ void make_ready() {}
  __device__ __forceinline__ void step() {}
  __device__ __forceinline__ void access(std::uint32_t sink) {
    if constexpr (overhead == Overhead::sink) store_shared_u32(sink, sink);
  }
  __device__ __forceinline__ void settle(std::uint32_t) {}
  __device__ std::uint64_t final_value() const { return 0; }
};

}  // namespace sonde::kernels
