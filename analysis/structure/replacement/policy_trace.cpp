// Plays all known policies while the chase is made, to find accesses on which they differ.
#include "analysis/structure/replacement/policy_trace.hpp"

#include "analysis/structure/replacement/policies.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace sonde {
namespace {

// Longest run of accesses that are not chosen to distinguish policies.
constexpr std::uint32_t longest_segment = 24;

/// Two models and how often the chase has distinguished them.
struct Rivals {
  std::size_t one = 0;
  std::size_t other = 0;
  std::size_t distinguished = 0;
};

class TraceMaker {
 public:
  TraceMaker(std::uint32_t ways, std::size_t accesses, std::uint64_t seed)
      : ways_(ways), accesses_(accesses), random_(seed), last_access_(policy_trace_lines(ways)) {
    for (const ModelRule& rule : all_model_rules()) {
      models_.emplace_back(rule, ways, policy_trace_lines(ways));
    }
    missed_.resize(models_.size());
    for (std::size_t one = 0; one < models_.size(); ++one) {
      for (std::size_t other = one + 1; other < models_.size(); ++other) {
        rivals_.push_back({one, other, 0});
      }
    }
  }

  std::vector<std::uint16_t> make() {
    fill();
    while (trace_.size() < accesses_) {
      switch (random_.below(24)) {
        case 0: go_round(); break;
        case 1: access_random_lines(); break;
        case 2: touch_again(); break;
        case 3: scan(); break;
        case 4:
        case 5: hit_between_fills(); break;
        default: divide(); break;
      }
    }
    return trace_;
  }

 private:
  void access(std::uint64_t line) {
    if (trace_.size() == accesses_) return;
    const auto id = static_cast<std::uint16_t>(line);
    for (std::size_t i = 0; i < models_.size(); ++i) missed_[i] = models_[i].access(id) ? 1 : 0;
    for (Rivals& pair : rivals_) {
      pair.distinguished += static_cast<std::size_t>(missed_[pair.one] ^ missed_[pair.other]);
    }
    last_access_[line] = trace_.size();
    trace_.push_back(id);
  }

  /// Fills the set, and sometimes accesses an old line.
  void fill() {
    for (std::uint32_t line = 0; line < ways_; ++line) {
      access(line);
      if (random_.below(8) == 0) access(random_.below(line + 1));
    }
  }

  /// Long enough for a round of a small set; short compared with the distinguishing accesses.
  std::uint64_t segment() { return 1 + random_.below(std::min(ways_ + 1, longest_segment)); }

  void go_round() {
    const std::uint64_t start = random_.below(ways_ + 1);
    for (std::uint64_t i = 0, length = segment(); i < length; ++i)
      access((start + i) % (ways_ + 1));
  }

  void access_random_lines() {
    const std::uint64_t lines = ways_ + 1 + random_.below(4);
    for (std::uint64_t i = 0, length = segment(); i < length; ++i) access(random_.below(lines));
  }

  void touch_again() {
    const std::size_t reach = std::min<std::size_t>(trace_.size(), 2 * std::size_t{ways_});
    for (std::uint64_t i = 0, length = segment(); i < length; ++i) {
      access(trace_[trace_.size() - 1 - random_.below(reach)]);
    }
  }

  void scan() {
    const std::uint64_t start = random_.below(policy_trace_lines(ways_));
    for (std::uint64_t i = 0; i < 4; ++i) access((start + i) % policy_trace_lines(ways_));
  }

  /// Of the lines in an LRU set (the first model), the one that was accessed longest ago.
  std::uint64_t oldest_line() const {
    std::uint64_t oldest = 0;
    for (std::uint64_t line = 0; line < policy_trace_lines(ways_); ++line) {
      const bool held = models_.front().holds(static_cast<std::uint16_t>(line));
      if (held && (last_access_[line] < last_access_[oldest] ||
                   !models_.front().holds(static_cast<std::uint16_t>(oldest)))) {
        oldest = line;
      }
    }
    return oldest;
  }

  std::uint64_t absent_line() const {
    std::uint64_t line = 0;
    while (models_.front().holds(static_cast<std::uint16_t>(line))) ++line;
    return line;
  }

  /// Hits an old line, fills another, and hits a third one twice. If hits take effect later than
  /// fills (guarded LRU), the first two lines swap places in the order of victims.
  void hit_between_fills() {
    for (std::uint64_t i = 0; i < 4; ++i) {
      access(oldest_line());
      access(absent_line());
      const std::uint64_t hit = random_.below(ways_);
      access(hit);
      access(hit);
    }
  }

  /// A random one of the lines that only one of the two models holds now.
  std::optional<std::uint16_t> dividing_line(const Rivals& pair) {
    std::optional<std::uint16_t> chosen;
    std::uint64_t seen = 0;
    for (std::uint16_t line = 0; line < policy_trace_lines(ways_); ++line) {
      if (models_[pair.one].holds(line) == models_[pair.other].holds(line)) continue;
      if (random_.below(++seen) == 0) chosen = line;
    }
    return chosen;
  }

  /// Sorts by the number of distinguishing accesses; equal pairs keep their order. Fast, as few
  /// pairs have moved since the last time.
  void sort_rivals() {
    for (auto pair = rivals_.begin(); pair != rivals_.end(); ++pair) {
      if (pair == rivals_.begin() || std::prev(pair)->distinguished <= pair->distinguished)
        continue;
      const auto place = std::ranges::upper_bound(rivals_.begin(), pair, pair->distinguished, {},
                                                  &Rivals::distinguished);
      std::rotate(place, pair, pair + 1);
    }
  }

  void divide() {
    sort_rivals();
    for (const Rivals& pair : rivals_) {
      if (const auto line = dividing_line(pair)) {
        for (std::uint64_t i = random_.below(4); i > 0; --i) access(random_.below(ways_ + 1));
        access(*line);
        return;
      }
    }
    access(random_.below(policy_trace_lines(ways_)));
  }

  std::uint32_t ways_;
  std::size_t accesses_;
  Random random_;
  std::vector<std::size_t> last_access_;  // by line
  std::vector<SetModel> models_;
  std::vector<unsigned char> missed_;  // by model: whether the last access missed
  std::vector<Rivals> rivals_;
  std::vector<std::uint16_t> trace_;
};

}  // namespace

std::vector<std::uint16_t> policy_trace(std::uint32_t ways, std::size_t accesses,
                                        std::uint64_t seed) {
  return TraceMaker(ways, accesses, seed).make();
}

std::vector<std::uint64_t> choose_far_apart(const std::vector<std::uint64_t>& addresses,
                                            std::size_t count) {
  constexpr std::uint64_t farthest_bytes = 65536;
  for (std::uint64_t distance = farthest_bytes; distance > 0; distance /= 2) {
    std::vector<std::uint64_t> apart;
    for (std::uint64_t address : addresses) {
      const bool close = std::ranges::any_of(apart, [&](std::uint64_t other) {
        return std::max(address, other) - std::min(address, other) < distance;
      });
      if (!close && apart.size() < count) apart.push_back(address);
    }
    if (apart.size() == count) return apart;
  }
  return addresses;
}

std::vector<std::uint16_t> cyclic_trace(std::uint32_t ways, std::size_t accesses) {
  std::vector<std::uint16_t> chase(accesses);
  for (std::size_t i = 0; i < accesses; ++i) chase[i] = static_cast<std::uint16_t>(i % (ways + 1));
  return chase;
}

}  // namespace sonde
