// The chases of pairs, and what leaves together in them. jobs/cache/fetch_and_line and code_line
// ask here where chases over parts of blocks leave the line open.
#include "jobs/cache/line_by_pairs.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// How often the second place was missing, by whether the first one was.
struct PairCounts {
  double left = 0;  // the first place was missing
  double both_left = 0;
  double stayed = 0;
  double second_left = 0;  // though the first one had stayed

  double left_share() const { return left / std::max(1.0, left + stayed); }
};

/// One pair behind so many others.
ChasePlan plan_pair(const CacheUnderTest& cache, const PairQuestion& question, std::uint64_t others,
                    Random& random) {
  const std::uint64_t block =
      random.below(cache.space_bytes / question.block_bytes) * question.block_bytes;
  ChasePlan plan{.warmup_passes = 2};
  for (std::uint64_t offset :
       shuffled_order(cache.space_bytes, question.others_step_bytes, random())) {
    if (plan.offsets.size() == others) break;
    if (offset / question.block_bytes * question.block_bytes == block) continue;
    plan.offsets.push_back(offset + question.others_at_bytes);
  }
  plan.skipped = plan.offsets.size();
  plan.offsets.push_back(block + question.first_bytes);
  plan.offsets.push_back(block + question.second_bytes);
  return plan;
}

void count_pair(const CacheUnderTest& cache, const PairQuestion& question, std::uint64_t others,
                Random& random, PairCounts& counts) {
  ChasePlan plan = plan_pair(cache, question, others, random);
  plan.evidence = Evidence::of_a_search;
  const std::string label =
      fmt::format("pair {} {} behind {}", question.first_bytes, question.second_bytes, others);
  const ChaseLatencies seen = measure_chase(cache, label, plan);
  const double inner_cycles = cache.inner ? cache.inner->threshold_cycles : 0;
  if (std::ranges::min(seen.cycles) <= inner_cycles) return;
  const bool second_left = seen.cycles[1] > cache.threshold_cycles;
  if (seen.cycles[0] > cache.threshold_cycles) {
    ++counts.left;
    counts.both_left += second_left;
  } else {
    ++counts.stayed;
    counts.second_left += second_left;
  }
}

/// So many others that the first place leaves now and then; 0 if there is no such number.
std::uint64_t find_others(const CacheUnderTest& cache, const PairQuestion& question,
                          Random& random) {
  constexpr int tries = 12;
  constexpr double seldom = 0.25;
  std::uint64_t low = 0;
  std::uint64_t high =
      std::min((cache.space_bytes - question.block_bytes) / question.others_step_bytes,
               longest_list(cache.chase) - 2);  // the pair
  while (high - low > std::max<std::uint64_t>(1, low / 16)) {
    const std::uint64_t others = low + (high - low) / 2;
    PairCounts counts;
    for (int i = 0; i < tries; ++i) count_pair(cache, question, others, random, counts);
    if (counts.left + counts.stayed == 0) return 0;
    const double left = counts.left_share();
    if (left >= seldom && left <= 1 - seldom) return others;
    (left < seldom ? low : high) = others;
  }
  return 0;
}

}  // namespace

std::optional<PairAnswer> ask_pair(const CacheUnderTest& cache, const PairQuestion& question) {
  constexpr int most_draws = 128;
  constexpr double enough = 24;  // a share of so many scatters by a tenth
  Random random(derive_seed(cache.seed, "pairs"));
  const std::uint64_t others = find_others(cache, question, random);
  if (others == 0) return std::nullopt;
  PairCounts counts;
  for (int draw = 0; draw < most_draws && std::min(counts.left, counts.stayed) < enough; ++draw)
    count_pair(cache, question, others, random, counts);
  if (std::min(counts.left, counts.stayed) < enough / 2) return std::nullopt;
  const double depends = counts.both_left / counts.left - counts.second_left / counts.stayed;
  return PairAnswer{depends > 0.5, std::min(1.0, std::abs(2 * depends - 1))};
}

std::optional<LineLength> measure_line_by_pairs(const CacheUnderTest& cache,
                                                std::uint64_t unit_bytes) {
  LineLength line{.bytes = unit_bytes, .contrast = 1};
  for (std::uint64_t bytes = unit_bytes; bytes < longest_line_bytes; bytes *= 2) {
    const auto answer = ask_pair(cache, {.block_bytes = 2 * bytes,
                                         .first_bytes = 0,
                                         .second_bytes = bytes,
                                         .others_step_bytes = unit_bytes});
    if (!answer) return std::nullopt;
    line.contrast = std::min(line.contrast, answer->contrast);
    if (!answer->one_line) break;
    line.bytes = 2 * bytes;
  }
  return line;
}

}  // namespace sonde
