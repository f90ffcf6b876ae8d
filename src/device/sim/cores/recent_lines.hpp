// The lines that were touched last: a cache of which only the size is declared.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

namespace sonde::sim {

class RecentLines {
 public:
  /// @param lines that are kept, at least one
  explicit RecentLines(std::uint64_t lines) : most_(lines) {}

  /// @return whether the line was there; it is now, instead of the one touched longest ago
  bool touch(std::uint64_t line) {
    const auto known = place_.find(line);
    if (known != place_.end()) {
      order_.splice(order_.begin(), order_, known->second);
      return true;
    }
    if (place_.size() == most_) {
      place_.erase(order_.back());
      order_.pop_back();
    }
    order_.push_front(line);
    place_[line] = order_.begin();
    return false;
  }

 private:
  std::uint64_t most_;
  std::list<std::uint64_t> order_;  // the last one first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> place_;
};

}  // namespace sonde::sim
