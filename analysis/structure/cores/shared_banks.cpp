// Divides the latencies of all distances into two levels: conflict or not.
#include "analysis/structure/cores/shared_banks.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"

namespace sonde {
namespace {

/// Least part of the variance that two levels must explain: a uniform spread of latencies, cut in
/// two, explains 0.75; two levels with a cycle of jitter explain more than 0.95.
constexpr double least_banks_explained = 0.9;
/// A conflict costs at least one cycle more.
constexpr double least_conflict_cycles = 1.0;

}  // namespace

std::optional<SharedBanks> infer_banks(std::span<const double> pair_latency_cycles) {
  if (pair_latency_cycles.size() < 2) return std::nullopt;
  // Distance 0 is one word for both threads: a broadcast, no conflict.
  const TwoModes levels =
      split_in_two({pair_latency_cycles.begin() + 1, pair_latency_cycles.end()});
  const double cost = levels.high.center - levels.low.center;
  if (levels.high.count == 0 || cost < least_conflict_cycles ||
      levels.explained_fraction < least_banks_explained) {
    return std::nullopt;
  }
  const auto in_conflict = [&](std::size_t words) {
    return pair_latency_cycles[words] > levels.threshold;
  };
  std::size_t row_words = 1;
  while (row_words < pair_latency_cycles.size() && !in_conflict(row_words)) ++row_words;
  if (2 * row_words > pair_latency_cycles.size()) return std::nullopt;
  std::size_t bank_words = 0;
  for (std::size_t words = row_words; words < 2 * row_words; ++words) {
    if (in_conflict(words)) ++bank_words;
  }
  if (row_words % bank_words != 0) return std::nullopt;
  return SharedBanks{.count = row_words / bank_words, .bank_bytes = bank_words * 4};
}

std::vector<std::uint32_t> conflict_offsets(int threads, int ways, const SharedBanks& banks) {
  require(ways > 0 && threads % ways == 0, "the ways of a conflict must divide the threads");
  const auto row_bytes = static_cast<std::uint32_t>(banks.count * banks.bank_bytes);
  std::vector<std::uint32_t> offsets;
  for (int thread = 0; thread < threads; ++thread) {
    const auto row = static_cast<std::uint32_t>(thread % ways);
    const auto column = static_cast<std::uint32_t>(thread / ways * 4);
    offsets.push_back(row * row_bytes + column % row_bytes);
  }
  return offsets;
}

std::vector<std::uint32_t> stride_offsets(int threads, int stride, int element_bytes) {
  std::vector<std::uint32_t> offsets;
  for (int thread = 0; thread < threads; ++thread) {
    offsets.push_back(static_cast<std::uint32_t>(thread * stride * element_bytes));
  }
  return offsets;
}

}  // namespace sonde
