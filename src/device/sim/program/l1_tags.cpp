#include "device/sim/program/l1_tags.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

// Duong et al. 2012 sample a few sets, count distances up to 256 and choose anew now and then; an
// L1 of 4 ways needs shorter ones.
constexpr std::uint32_t sampled_ratio = 8;
constexpr std::uint32_t longest_distance = 64;
constexpr std::uint64_t period_accesses = 1024;  // to sampled sets

}  // namespace

L1Tags::L1Tags(const L1Model& model) : model_(model), tags_(std::size_t{model.sets} * model.ways) {
  if (!model_.protects) return;
  const std::size_t sampled = (model.sets + sampled_ratio - 1) / sampled_ratio;
  distances_.recent.assign(sampled, std::vector<std::uint64_t>(longest_distance, no_line));
  distances_.next.assign(sampled, 0);
  distances_.reused.assign(longest_distance, 0);
  distances_.protecting = model.ways;  // what LRU gives, until something is known
}

void L1Tags::clear() { std::ranges::fill(tags_, Tag{}); }

L1Answer L1Tags::look_up(const LineAccess& access, double time) {
  Tag* victim = nullptr;
  double earliest = INFINITY;
  double earliest_unprotected = INFINITY;  // of lines on their way
  for (Tag& tag : tags_of(model_.set_of(access.line))) {
    if (tag.line == access.line) {
      const Sectors missing = access.sectors & ~tag.sectors;
      if (missing == 0 && tag.filled <= time) {
        tag.used = ++accesses_;
        if (model_.protects) tag.protected_for = distances_.protecting;
        return {.outcome = L1Outcome::hit, .time = time};
      }
      if (missing == 0) {
        if (tag.waiting >= model_.mshr_merges) {
          return {.outcome = L1Outcome::stalled, .time = tag.filled};
        }
        ++tag.waiting;
        tag.used = ++accesses_;
        return {.outcome = L1Outcome::merged, .time = tag.filled};
      }
      return {.outcome = L1Outcome::miss,
              .fetched = missing_of(missing),
              .slot = static_cast<std::uint32_t>(&tag - tags_.data())};
    }
    if (tag.filled > time) {
      earliest = std::min(earliest, tag.filled);
      if (tag.protected_for == 0) {
        earliest_unprotected = std::min(earliest_unprotected, tag.filled);
      }
      continue;
    }
    if (tag.protected_for > 0 && tag.line != no_line) continue;
    if (victim == nullptr || tag.used < victim->used) victim = &tag;
  }
  if (victim == nullptr) {
    // All lines are on their way, or some are and the others are protected: what is protected no
    // more is waited for.
    if (!model_.protects) return {.outcome = L1Outcome::stalled, .time = earliest};
    if (std::isinf(earliest_unprotected)) return {.outcome = L1Outcome::bypassed, .time = time};
    return {.outcome = L1Outcome::stalled, .time = earliest_unprotected};
  }
  return {.outcome = L1Outcome::miss,
          .fetched = missing_of(access.sectors),
          .slot = static_cast<std::uint32_t>(victim - tags_.data())};
}

void L1Tags::reserve(const LineAccess& access, const L1Answer& miss, double filled, bool keep) {
  Tag& tag = tags_[miss.slot];
  if (tag.line != access.line) tag = {.line = access.line};
  tag.sectors |= miss.fetched;
  tag.filled = std::max(tag.filled, filled);
  tag.waiting = 1;
  tag.used = keep ? ++accesses_ : 0;
  if (model_.protects) tag.protected_for = distances_.protecting;
}

void L1Tags::store(const LineAccess& access) {
  if (model_.update_on_store) return;
  for (Tag& tag : tags_of(model_.set_of(access.line))) {
    if (tag.line == access.line) tag = {.filled = tag.filled};
  }
}

/// Every line of the set is protected for one access less.
void L1Tags::age(std::uint64_t line) {
  const std::uint32_t set = model_.set_of(line);
  for (Tag& tag : tags_of(set)) {
    if (tag.protected_for > 0) --tag.protected_for;
  }
  if (set % sampled_ratio == 0) sample(set / sampled_ratio, line);
}

void L1Tags::sample(std::uint32_t set, std::uint64_t line) {
  std::vector<std::uint64_t>& recent = distances_.recent[set];
  std::uint32_t& next = distances_.next[set];
  for (std::uint32_t distance = 1; distance <= longest_distance; ++distance) {
    if (recent[(next + longest_distance - distance) % longest_distance] != line) continue;
    ++distances_.reused[distance - 1];
    break;
  }
  recent[next] = line;
  next = (next + 1) % longest_distance;
  if (++distances_.accesses >= period_accesses) choose_distance();
}

/// Hits over what the lines' stay costs, in accesses: those reused within the distance stay until
/// then, all others for the whole distance and until they are evicted, another `ways` accesses
/// (Duong et al. 2012, section 3, E(d_p)).
void L1Tags::choose_distance() {
  double hits = 0;
  double stay = 0;
  double best = 0;
  const auto all = static_cast<double>(distances_.accesses);
  for (std::uint32_t distance = 1; distance <= longest_distance; ++distance) {
    const auto reused = static_cast<double>(distances_.reused[distance - 1]);
    hits += reused;
    stay += reused * distance;
    const double gain = hits / (stay + (all - hits) * (distance + model_.ways));
    if (gain <= best) continue;
    best = gain;
    distances_.protecting = distance;
  }
  for (std::uint64_t& count : distances_.reused) count /= 2;
  distances_.accesses /= 2;
}

}  // namespace sonde::sim
