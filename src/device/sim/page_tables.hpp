// From the addresses of a path to those that physically addressed caches see, and what the
// translation met on its way. Used by memory_system.cpp.
#pragma once

#include "device/sim/cache_array.hpp"

#include <span>

namespace sonde::sim {

struct Translation {
  std::uint64_t physical = 0;
  std::size_t outcome = 0;  // place in a LatencyRow
  bool cold = false;        // the page table entry had not been read before
};

/// The pages of one buffer.
class PageTables {
 public:
  /// Keeps a reference to the model.
  explicit PageTables(const PageModel& model);

  /// A new buffer at new physical pages; no entry has been read.
  /// @param span_bytes beyond all addresses  @param seed of the pages' places
  void begin_probe(std::uint64_t span_bytes, std::uint64_t seed);

  /// Asks the TLBs in order; if none has the page, walks and moves the page window there.
  /// @param physical what to_physical gives
  Translation translate(std::span<CacheArray* const> tlbs, std::uint64_t address,
                        std::uint64_t physical);

  std::uint64_t to_physical(std::uint64_t address) const {
    if (places_.empty()) return address;
    return places_[address >> block_shift_] | (address & block_mask_);
  }

 private:
  bool read_entry(std::uint64_t address);

  const PageModel& model_;
  int page_shift_ = 0;
  int block_shift_ = 0;
  std::uint64_t block_mask_ = 0;
  std::vector<std::uint64_t> places_;  // random mapping: where each block begins
  std::vector<bool> walked_;           // by page of the buffer
  std::uint64_t active_window_ = 0;
};

}  // namespace sonde::sim
