// Decides from the losses of simultaneous chases whether two caches are one array.
#include "jobs/sharing/arrays.hpp"

#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t draws = 2;
// Sizes of one array that were found through two paths differ by less.
constexpr double most_size_ratio = 1.5;
// The part of a constant bank that is chased; the rest is left to the program's own constants.
constexpr double most_of_bank = 0.95;
// Together with a bank that fills a part of a cache, code is to overfill the cache by this: if the
// known size is where lines are first lost, the cache has more ...
constexpr double overfilling = 1.4;
constexpr double least_overfilling = 1.15;
// ... but fills no more of it alone than this, or it would miss without the bank.
constexpr double most_filled = 0.9;
// Sizes with less confidence may be brackets, which may differ for one array.
constexpr double sure_size = 0.9;
constexpr double confidence_measured = 0.99;
constexpr double confidence_by_size = 0.95;

using Tries = std::vector<TwoChases>;

/// Chases of several draws; empty, with the reason, if the device refuses or inner caches answer.
Tries try_together(JobRun& run, const CoRunCache& one, const CoRunCache& other,
                   ArrayVerdict& verdict) {
  const std::string label = one.name + " beside " + other.name;
  // Both may read global memory: then the second list has other lines.
  const std::uint64_t step_bytes = other.line_bytes;
  const std::uint64_t behind_bytes = (one.list_bytes() + step_bytes - 1) / step_bytes * step_bytes;
  const ListChase second{&other, 0, other.space_bytes > 0 ? 0 : behind_bytes};
  Tries tries;
  const auto refusal = refusal_of([&] {
    for (std::size_t number = 0; number < draws; ++number) {
      tries.push_back(
          try_two(run, label, {&one, 0, 0}, second, draw_replicate(run, label, number)));
    }
  });
  const auto held = [](const TwoChases& pair) { return pair.both.empty(); };
  constexpr std::uint64_t probes_of_try = 3;
  verdict.probes = probes_of_try * tries.size();
  if (!refusal && std::ranges::none_of(tries, held)) return tries;
  verdict.reason = refusal.value_or("caches before them serve many of the accesses");
  return {};
}

std::string explain(const TwoChases& pair) {
  return fmt::format(
      "chases through them miss {:.0f} and {:.0f} % alone, {:.0f} and {:.0f} % when they run "
      "together",
      100 * pair.alone[0].missed, 100 * pair.alone[1].missed, 100 * pair.both[0].missed,
      100 * pair.both[1].missed);
}

void decide(const Tries& tries, bool one_array, bool two_arrays, ArrayVerdict& verdict) {
  if (one_array || two_arrays) {
    verdict.one_array = one_array;
    verdict.confidence = confidence_measured;
  } else {
    verdict.reason = explain(tries.front());
  }
}

ArrayVerdict differ_in_size(const CoRunCache& one, const CoRunCache& other) {
  return {.one_array = false,
          .reason = fmt::format("of {} and {}: one array has one size",
                                format_bytes(one.size_bytes), format_bytes(other.size_bytes)),
          .confidence = std::min({confidence_by_size, one.size_confidence, other.size_confidence})};
}

/// A verdict without chases; nullopt if it needs chases.
std::optional<ArrayVerdict> compare_shapes(const SharedCache& one, const SharedCache& other) {
  if (!one.sms.empty() && !other.sms.empty() && one.sms != other.sms) {
    return ArrayVerdict{.one_array = false,
                        .reason = fmt::format(
                            "{} SMs share one of them and {} SMs the other one, or the SMs differ",
                            one.sms.size(), other.sms.size()),
                        .confidence = confidence_measured};
  }
  if (one.holds_bank) {
    if (other.cache.size_bytes >= one.cache.size_bytes) return std::nullopt;
    return differ_in_size(one.cache, other.cache);
  }
  if (std::min(one.cache.size_confidence, other.cache.size_confidence) < sure_size)
    return std::nullopt;
  const auto [smaller, larger] = std::minmax(one.cache.size_bytes, other.cache.size_bytes);
  if (larger <= most_size_ratio * smaller) return std::nullopt;
  return differ_in_size(one.cache, other.cache);
}

/// @pre for each cache: two chases through it overfill it
ArrayVerdict compare_chases(JobRun& run, const CoRunCache& one, const CoRunCache& other) {
  ArrayVerdict verdict;
  const Tries tries = try_together(run, one, other, verdict);
  if (tries.empty()) return verdict;
  const auto all_lose = [&](Loss loss) {
    return std::ranges::all_of(tries, [&](const TwoChases& pair) { return pair.both_lose(loss); });
  };
  decide(tries, all_lose(Loss::some), all_lose(Loss::none), verdict);
  return verdict;
}

/// The same for a cache that holds the whole constant bank (so that its size is not known) and a
/// cache of code: whether the cache of code loses lines while the bank is chased.
/// @param bank with the size of the bank
/// @pre two chases through the cache of code overfill it
ArrayVerdict compare_with_bank(JobRun& run, const CoRunCache& bank, const CoRunCache& code) {
  CoRunCache constants = bank;
  constants.line_bytes = code.line_bytes;  // each line of the array once
  constants.filling = most_of_bank;
  CoRunCache blocks = code;
  const double held = static_cast<double>(constants.list_bytes()) / code.size_bytes;
  blocks.filling = std::clamp(overfilling - held, std::min(code.filling, most_filled), most_filled);
  ArrayVerdict verdict;
  if (blocks.filling + held < least_overfilling) {
    verdict.reason = fmt::format("of {}: the constant bank and code that fits do not overfill it",
                                 format_bytes(code.size_bytes));
    return verdict;
  }
  const Tries tries = try_together(run, constants, blocks, verdict);
  if (tries.empty()) return verdict;
  // The bank's list is shorter: under LRU its lines may stay while lines of the code leave; under
  // random replacement it loses more.
  const bool one_array = std::ranges::all_of(tries, [](const TwoChases& pair) {
    return pair.loss(1) == Loss::some || (pair.loss(0) == Loss::some && pair.loss(1) != Loss::none);
  });
  const bool two_arrays =
      std::ranges::all_of(tries, [](const TwoChases& pair) { return pair.both_lose(Loss::none); });
  decide(tries, one_array, two_arrays, verdict);
  return verdict;
}

}  // namespace

ArrayVerdict compare_arrays(JobRun& run, SharedCache& one, SharedCache& other) {
  if (auto verdict = compare_shapes(one, other)) return *verdict;
  for (SharedCache* shared : {&one, &other}) {
    if (shared->holds_bank) continue;
    if (!shared->lists) shared->lists = fit_lists(run, shared->cache);
    if (shared->lists->empty()) continue;
    return {.reason = fmt::format("{}: {}", shared->cache.name, *shared->lists)};
  }
  return one.holds_bank ? compare_with_bank(run, one.cache, other.cache)
                        : compare_chases(run, one.cache, other.cache);
}

}  // namespace sonde
