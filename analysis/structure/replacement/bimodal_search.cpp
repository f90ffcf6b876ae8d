// A beam of histories; equal states are merged, unlikely ones dropped.
#include "analysis/structure/replacement/bimodal_search.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace sonde {
namespace {

constexpr std::uint8_t distant = 3;
constexpr std::uint8_t undecided = 4;  // distant or long: nobody has looked yet
constexpr std::uint16_t nowhere = 0xffff;

// One insertion in 32 is at the long interval (Jaleel 2010); other rates cost little likelihood.
const double near_cost = std::log(32.0);
const double distant_cost = std::log(32.0 / 31.0);
// One access in a thousand may be an outlier.
const double surprise_cost = std::log(1000.0);
// Histories this much less likely than the best (e^-25) never come back.
constexpr double hopeless_cost = 25;
constexpr std::size_t beam_width = 64;

struct History {
  std::vector<std::uint16_t> line_in;  // by way
  std::vector<std::uint8_t> interval;  // by way
  std::vector<std::uint16_t> way_of;   // by line
  std::uint32_t filled = 0;
  double cost = 0;
  OutcomeTally tally;
  std::uint64_t near = 0;
  std::uint64_t decided = 0;

  void place(std::uint16_t line, std::uint32_t way) {
    if (line_in[way] != nowhere) way_of[line_in[way]] = nowhere;
    line_in[way] = line;
    way_of[line] = static_cast<std::uint16_t>(way);
    interval[way] = undecided;
  }

  std::uint64_t state() const {
    std::uint64_t hash = 0;
    for (std::size_t way = 0; way < line_in.size(); ++way) {
      hash = mix_bits(hash ^ (std::uint64_t{line_in[way]} << 8 | interval[way]));
    }
    return hash;
  }
};

/// Ends a search in which no way was distant: all age until one is distant.
std::uint32_t age(History& history) {
  const auto farthest = std::ranges::max_element(history.interval);
  const int step = distant - *farthest;
  for (std::uint8_t& interval : history.interval) {
    interval = static_cast<std::uint8_t>(interval + step);
  }
  return static_cast<std::uint32_t>(farthest - history.interval.begin());
}

/// Every victim that undecided insertions allow, each with its price, becomes a history of its own.
void replace_line(History history, std::uint16_t line, double limit, std::vector<History>& next) {
  for (std::uint32_t way = 0; way < history.interval.size(); ++way) {
    if (history.interval[way] == distant) {
      history.place(line, way);
      next.push_back(std::move(history));
      return;
    }
    if (history.interval[way] != undecided) continue;
    ++history.decided;
    History evicted = history;
    evicted.cost += distant_cost;
    evicted.place(line, way);
    next.push_back(std::move(evicted));
    history.interval[way] = distant - 1;
    history.cost += near_cost;
    ++history.near;
    if (history.cost > limit) return;
  }
  const std::uint32_t way = age(history);
  history.place(line, way);
  next.push_back(std::move(history));
}

const History& likeliest(const std::vector<History>& beam) {
  return *std::ranges::min_element(beam, {}, &History::cost);
}

void keep_likely(std::vector<History>& beam) {
  std::ranges::sort(beam, {}, &History::cost);
  const double limit = beam.front().cost + hopeless_cost;
  std::unordered_set<std::uint64_t> states;
  std::vector<History> kept;
  for (History& history : beam) {
    if (kept.size() == beam_width || history.cost > limit) break;
    if (states.insert(history.state()).second) kept.push_back(std::move(history));
  }
  beam = std::move(kept);
}

void access(std::vector<History>& beam, std::uint16_t line, OutcomeTally::Access kind,
            bool missed) {
  const double limit = likeliest(beam).cost + hopeless_cost;
  std::vector<History> next;
  bool branched = false;
  for (History& history : beam) {
    const bool held = history.way_of[line] != nowhere;
    history.tally.count(kind, !held, missed);
    if (held == missed) history.cost += surprise_cost;
    if (held) {
      history.interval[history.way_of[line]] = 0;
    } else if (history.filled < history.line_in.size()) {
      history.place(line, history.filled++);
    } else {
      branched = true;
      replace_line(std::move(history), line, limit, next);
      continue;
    }
    next.push_back(std::move(history));
  }
  beam = std::move(next);
  if (branched) keep_likely(beam);
}

/// Follows one record to its end or until it is clear that BRRIP does not explain it.
std::vector<History> follow(std::uint32_t ways, const AccessRecord& record) {
  constexpr std::size_t look_every = 256;
  constexpr double least_agreement = 0.95;
  const std::size_t lines = std::size_t{*std::ranges::max_element(record.lines)} + 1;
  History empty;
  empty.line_in.assign(ways, nowhere);
  empty.interval.assign(ways, 0);
  empty.way_of.assign(lines, nowhere);
  std::vector<History> beam = {std::move(empty)};
  std::vector<bool> accessed(lines);
  for (std::size_t i = 0; i < record.missed.size(); ++i) {
    const std::uint16_t line = record.lines[i];
    access(beam, line, accessed[line] ? OutcomeTally::Access::later : OutcomeTally::Access::first,
           record.missed[i]);
    accessed[line] = true;
    if (i % look_every == look_every - 1 && likeliest(beam).tally.agreement() < least_agreement) {
      break;
    }
  }
  return beam;
}

}  // namespace

BimodalFit fit_bimodal(std::uint32_t ways, const std::vector<AccessRecord>& records) {
  BimodalFit fit;
  std::uint64_t near = 0;
  for (const AccessRecord& record : records) {
    if (record.lines.empty()) continue;
    const std::vector<History> beam = follow(ways, record);
    const History& best = likeliest(beam);
    fit.tally += best.tally;
    fit.insertions += best.decided;
    near += best.near;
    if (best.tally.accesses < record.missed.size()) break;
  }
  if (fit.insertions > 0) {
    fit.near_share = static_cast<double>(near) / static_cast<double>(fit.insertions);
  }
  return fit;
}

}  // namespace sonde
