// The simplest answer first; evidence is asked for before any is given.
#include "analysis/structure/index/index_function.hpp"

#include "analysis/structure/index/index_candidates.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace sonde {
namespace {

// Chance that lines beyond those that fix the function follow it all the same: below 2^-10.
constexpr double least_evidence_bits = 10;

/// How far the lines exceed what fixes a function of so many free parameters, in bits.
double evidence_bits(const IndexSample& sample, std::uint64_t sets, std::size_t parameters) {
  const double spare = static_cast<double>(sample.offsets.size()) -
                       static_cast<double>(sample.members.size()) - static_cast<double>(parameters);
  return spare * std::log2(static_cast<double>(sets));
}

/// Largest aligned block whose lines share a set; line_bytes if there is no larger one.
std::uint64_t common_block_bytes(std::vector<PlacedLine> lines, std::uint64_t line_bytes) {
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.offset_bytes < b.offset_bytes; });
  std::uint64_t block_bytes = line_bytes;
  for (std::uint64_t bytes = 2 * line_bytes;; bytes *= 2) {
    std::size_t neighbours = 0;
    std::size_t together = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::uint64_t at = lines[i].offset_bytes / bytes;
      if (at != lines[i - 1].offset_bytes / bytes) continue;
      ++neighbours;
      if (lines[i].set == lines[i - 1].set) ++together;
    }
    constexpr std::size_t least_neighbours = 8;
    if (neighbours < least_neighbours || neighbours == lines.size() - 1 ||
        static_cast<double>(together) < least_index_agreement * static_cast<double>(neighbours)) {
      return block_bytes;
    }
    block_bytes = bytes;
  }
}

std::string why_nothing_fits(const IndexSample& sample, const MaskFit& masks,
                             const ModuloFit& modulo, std::uint64_t block_bytes) {
  return fmt::format(
      "{} sets, chosen neither by XORs of address bits ({:.0f} % of the lines agree) nor by a "
      "remainder ({:.0f} %); {} consecutive bytes share a set",
      sample.solid_sets, 100 * masks.match.agreement, 100 * modulo.match.agreement, block_bytes);
}

IndexFunction from_masks(IndexFunction function, const MaskFit& fit) {
  function.masks = fit.masks;
  function.sets = static_cast<std::uint32_t>(fit.sets());
  function.agreement = fit.match.agreement;
  const bool single_bits = std::all_of(fit.masks.begin(), fit.masks.end(), [](std::uint64_t mask) {
    return std::has_single_bit(mask);
  });
  function.kind = fit.masks.empty() ? IndexKind::one_set
                  : single_bits     ? IndexKind::bit_field
                                    : IndexKind::xor_masks;
  return function;
}

}  // namespace

IndexSample gather_index_sample(const std::vector<PlacedLine>& lines) {
  IndexSample sample;
  std::map<std::uint32_t, std::uint32_t> names;
  for (const PlacedLine& line : lines) {
    const auto name = names.try_emplace(line.set, static_cast<std::uint32_t>(names.size())).first;
    if (name->second == sample.members.size()) sample.members.emplace_back();
    sample.members[name->second].push_back(sample.offsets.size());
    sample.offsets.push_back(line.offset_bytes);
    sample.sets.push_back(name->second);
  }
  std::vector<std::size_t> fellows;  // of each line, in its set
  for (std::uint32_t set : sample.sets) fellows.push_back(sample.members[set].size());
  std::nth_element(fellows.begin(), fellows.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2),
                   fellows.end());
  const std::size_t usual = fellows[lines.size() / 2];
  sample.solid_sets = static_cast<std::uint32_t>(
      std::count_if(sample.members.begin(), sample.members.end(),
                    [&](const auto& set) { return 4 * set.size() >= usual; }));
  return sample;
}

IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes) {
  require(line_bytes > 0, "a line has no bytes (offsets cannot be divided) pass its size");
  IndexFunction function;
  if (lines.size() < 2) {
    function.reason = "fewer than two lines have a known set";
    return function;
  }
  const IndexSample sample = gather_index_sample(lines);
  const std::uint64_t bits = independent_bits(sample);
  function.known_bits = bits;
  function.sets = sample.solid_sets;
  const auto too_few = [&] {
    function.reason = fmt::format("{} lines are too few to tell how {} sets are chosen",
                                  lines.size(), function.sets);
    return function;
  };

  const MaskFit masks = fit_masks(sample, bits);
  if (follows_index(masks.match, masks.sets())) {
    const std::size_t rank = static_cast<std::size_t>(std::popcount(bits)) - masks.masks.size();
    const bool sure =
        masks.sets() == 1 || evidence_bits(sample, masks.sets(), rank) >= least_evidence_bits;
    return sure ? from_masks(function, masks) : too_few();
  }
  const ModuloFit modulo = fit_modulo(sample, line_bytes);
  if (evidence_bits(sample, std::max(2U, modulo.sets), 2) < least_evidence_bits) return too_few();
  function.agreement = std::max(masks.match.agreement, modulo.match.agreement);
  if (!follows_index(modulo.match, modulo.sets)) {
    function.reason =
        why_nothing_fits(sample, masks, modulo, common_block_bytes(lines, line_bytes));
    return function;
  }
  function.kind = IndexKind::modulo;
  function.granularity_bytes = modulo.granularity_bytes;
  function.sets = modulo.sets;
  return function;
}

}  // namespace sonde
