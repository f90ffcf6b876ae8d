// One cache set as a newcomer would write it from the definitions of the policies: slow, plain, and
// independent of the models under test.
#pragma once

#include "analysis/structure/replacement/match.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace sonde::test {

/// Chooses victims; told of every hit and fill.
class ToyPolicy {
 public:
  virtual ~ToyPolicy() = default;
  virtual void hit(std::size_t way) = 0;
  virtual void fill(std::size_t way) = 0;
  virtual std::size_t victim() = 0;
};

/// Ways in a queue, the next victim first.
class ToyQueue final : public ToyPolicy {
 public:
  explicit ToyQueue(bool hits_count) : hits_count_(hits_count) {}
  void hit(std::size_t way) override {
    if (hits_count_) fill(way);
  }
  void fill(std::size_t way) override {
    queue_.erase(std::remove(queue_.begin(), queue_.end(), way), queue_.end());
    queue_.push_back(way);
  }
  std::size_t victim() override { return queue_.front(); }

 private:
  bool hits_count_;
  std::vector<std::size_t> queue_;
};

/// A queue that ways join when they are filled, and again when the second hit after theirs pushes
/// them out of a guard of two; guarded ways do not queue.
class ToyGuardedQueue final : public ToyPolicy {
 public:
  void hit(std::size_t way) override {
    std::erase(queue_, way);
    guard_.push_back(way);
    if (guard_.size() < 3) return;
    const std::size_t out = guard_.front();
    guard_.erase(guard_.begin());
    if (std::count(guard_.begin(), guard_.end(), out) == 0) queue_.push_back(out);
  }
  void fill(std::size_t way) override {
    std::erase(queue_, way);
    std::erase(guard_, way);
    queue_.push_back(way);
  }
  std::size_t victim() override { return queue_.empty() ? guard_.front() : queue_.front(); }

 private:
  std::vector<std::size_t> queue_;
  std::vector<std::size_t> guard_;
};

/// A binary tree over ways [begin, begin + size): each node knows which child was used last.
class ToyTree final : public ToyPolicy {
 public:
  explicit ToyTree(std::size_t ways) : ways_(ways) {
    while (size_ < ways) size_ *= 2;
    right_is_older_.assign(2 * size_, false);
  }
  void hit(std::size_t way) override { touch(1, 0, size_, way); }
  void fill(std::size_t way) override { hit(way); }
  std::size_t victim() override { return find(1, 0, size_); }

 private:
  void touch(std::size_t node, std::size_t begin, std::size_t size, std::size_t way) {
    if (size == 1) return;
    const bool in_left = way < begin + size / 2;
    right_is_older_[node] = in_left;
    touch(2 * node + (in_left ? 0 : 1), in_left ? begin : begin + size / 2, size / 2, way);
  }
  std::size_t find(std::size_t node, std::size_t begin, std::size_t size) {
    if (size == 1) return begin;
    const bool go_right = right_is_older_[node] && begin + size / 2 < ways_;
    return find(2 * node + (go_right ? 1 : 0), go_right ? begin + size / 2 : begin, size / 2);
  }
  std::size_t ways_;
  std::size_t size_ = 1;
  std::vector<bool> right_is_older_;
};

class ToyNru final : public ToyPolicy {
 public:
  explicit ToyNru(std::size_t ways) : used_(ways) {}
  void hit(std::size_t way) override {
    used_[way] = true;
    if (std::count(used_.begin(), used_.end(), true) < static_cast<std::ptrdiff_t>(used_.size())) {
      return;
    }
    used_.assign(used_.size(), false);
    used_[way] = true;
  }
  void fill(std::size_t way) override { hit(way); }
  std::size_t victim() override {
    return static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
  }

 private:
  std::vector<bool> used_;
};

class ToyClock final : public ToyPolicy {
 public:
  explicit ToyClock(std::size_t ways) : used_(ways) {}
  void hit(std::size_t way) override { used_[way] = true; }
  void fill(std::size_t way) override { used_[way] = true; }
  std::size_t victim() override {
    for (;;) {
      const std::size_t way = hand_;
      hand_ = (hand_ + 1) % used_.size();
      if (!used_[way]) return way;
      used_[way] = false;
    }
  }

 private:
  std::vector<bool> used_;
  std::size_t hand_ = 0;
};

/// Re-reference intervals of two bits; every line but one in `bimodal` is inserted as distant (0:
/// none is, SRRIP).
class ToyRrip final : public ToyPolicy {
 public:
  ToyRrip(std::size_t ways, std::uint64_t bimodal, std::uint64_t seed)
      : interval_(ways), bimodal_(bimodal), random_(seed) {}
  void hit(std::size_t way) override { interval_[way] = 0; }
  void fill(std::size_t way) override {
    interval_[way] = bimodal_ != 0 && random_.below(bimodal_) != 0 ? 3 : 2;
  }
  std::size_t victim() override {
    for (;;) {
      for (std::size_t way = 0; way < interval_.size(); ++way) {
        if (interval_[way] == 3) return way;
      }
      for (int& interval : interval_) ++interval;
    }
  }

 private:
  std::vector<int> interval_;
  std::uint64_t bimodal_;
  Random random_;
};

class ToyRandom final : public ToyPolicy {
 public:
  ToyRandom(std::vector<double> probability, std::uint64_t seed)
      : probability_(std::move(probability)), random_(seed) {}
  void hit(std::size_t) override {}
  void fill(std::size_t) override {}
  std::size_t victim() override {
    double draw = random_.unit();
    for (std::size_t way = 0; way + 1 < probability_.size(); ++way) {
      draw -= probability_[way];
      if (draw < 0) return way;
    }
    return probability_.size() - 1;
  }

 private:
  std::vector<double> probability_;
  Random random_;
};

inline std::unique_ptr<ToyPolicy> make_toy(Policy policy, std::size_t ways, std::uint64_t seed,
                                           std::vector<double> probability = {}) {
  if (probability.empty()) probability.assign(ways, 1.0 / static_cast<double>(ways));
  switch (policy) {
    case Policy::lru: return std::make_unique<ToyQueue>(true);
    case Policy::fifo: return std::make_unique<ToyQueue>(false);
    case Policy::guarded_lru: return std::make_unique<ToyGuardedQueue>();
    case Policy::tree_plru: return std::make_unique<ToyTree>(ways);
    case Policy::nru: return std::make_unique<ToyNru>(ways);
    case Policy::clock: return std::make_unique<ToyClock>(ways);
    case Policy::srrip: return std::make_unique<ToyRrip>(ways, 0, seed);
    case Policy::brrip: return std::make_unique<ToyRrip>(ways, 32, seed);
    default: return std::make_unique<ToyRandom>(std::move(probability), seed);
  }
}

/// Chases lines in an empty set; a share `noise` of the accesses is slow without being a miss.
inline AccessRecord chase_toy(ToyPolicy& policy, std::size_t ways,
                              const std::vector<std::uint16_t>& lines, double noise,
                              std::uint64_t seed) {
  Random random(seed);
  AccessRecord record{lines, {}};
  std::vector<std::uint16_t> held;
  for (std::uint16_t line : lines) {
    const auto at = std::find(held.begin(), held.end(), line);
    const bool missed = at == held.end();
    if (!missed) {
      policy.hit(static_cast<std::size_t>(at - held.begin()));
    } else if (held.size() < ways) {
      held.push_back(line);
      policy.fill(held.size() - 1);
    } else {
      const std::size_t way = policy.victim();
      held[way] = line;
      policy.fill(way);
    }
    record.missed.push_back(missed || random.unit() < noise);
  }
  return record;
}

}  // namespace sonde::test
