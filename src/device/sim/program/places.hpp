// Entries of a queue, or of MSHRs, that are taken and given back in the same order.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde::sim {

class Places {
 public:
  /// @param count 0: there is always room
  explicit Places(std::size_t count) : free_again_(count, 0) {}

  /// From when on there is room for one more.
  double room_at() const { return free_again_.empty() ? 0 : free_again_[next_]; }

  /// @pre room_at() has come  @param until when the place is given back
  void take(double until) {
    if (free_again_.empty()) return;
    free_again_[next_] = until;
    if (++next_ == free_again_.size()) next_ = 0;
  }

 private:
  std::vector<double> free_again_;
  std::size_t next_ = 0;
};

}  // namespace sonde::sim
