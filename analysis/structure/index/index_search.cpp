// Each kind of function is fitted; the one that most lines follow is believed if enough do, and if
// the lines are more than what fixes it.
#include "analysis/structure/index/index_search.hpp"

#include "analysis/structure/index/index_fits.hpp"
#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace sonde {
namespace {

// Labels may be wrong (about 1 %); a wrong function misses half of some sets at least.
constexpr double least_agreement = 0.97;
// Lines of other sets agree with most wrong functions, too.
constexpr double least_agreement_of_one_set = 0.995;
// A set may have gone unseen: of 128 two, of 7 or 8 none.
constexpr double least_seen_sets = 0.98;

bool follows(const IndexSample& sample, const IndexCandidate& found) {
  if (!sample.shows_all_sets()) {
    // Lines of the set are few among the others, but surer: those were seen to conflict with it.
    const double most_misplaced =
        std::max(1.0, (1 - least_agreement) * static_cast<double>(sample.labelled));
    return found.match.agreement >= least_agreement_of_one_set &&
           static_cast<double>(found.match.misplaced) <= most_misplaced;
  }
  return found.match.agreement >= least_agreement &&
         static_cast<double>(found.match.matched) >= least_seen_sets * found.index.sets;
}

/// Whether labelled lines exceed what fixes the function: chance that the others follow it all the
/// same below 2^-10.
bool has_evidence(const IndexSample& sample, const IndexFunction& index) {
  constexpr double least_evidence_bits = 10;
  if (index.kind == IndexKind::one_set) return true;
  const auto parameters =
      index.masks.empty()
          ? 2
          : static_cast<std::size_t>(std::popcount(index.known_bits)) - index.masks.size();
  const double spare =
      static_cast<double>(sample.labelled) - static_cast<double>(sample.sets.size() + parameters);
  return spare * std::log2(std::max(2U, index.sets)) >= least_evidence_bits;
}

/// Largest aligned block whose lines share a set; line_bytes if there is no larger one.
std::uint64_t common_block_bytes(std::vector<PlacedLine> lines, std::uint64_t line_bytes) {
  constexpr std::size_t least_neighbours = 8;
  std::ranges::sort(lines, {}, &PlacedLine::offset_bytes);
  for (std::uint64_t block_bytes = line_bytes;; block_bytes *= 2) {
    std::size_t neighbours = 0;
    std::size_t together = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::uint64_t bytes = 2 * block_bytes;
      if (lines[i].offset_bytes / bytes != lines[i - 1].offset_bytes / bytes) continue;
      ++neighbours;
      if (lines[i].set == lines[i - 1].set) ++together;
    }
    if (neighbours < least_neighbours || neighbours == lines.size() - 1 ||
        static_cast<double>(together) < least_agreement * static_cast<double>(neighbours)) {
      return block_bytes;
    }
  }
}

std::vector<PlacedLine> to_addresses(std::vector<PlacedLine> lines, std::uint64_t buffer_address) {
  for (PlacedLine& line : lines) line.offset_bytes += buffer_address;
  return lines;
}

std::string why_none(const IndexSample& sample, const IndexCandidate& best,
                     std::uint64_t line_bytes) {
  if (!has_evidence(sample, best.index)) {
    return fmt::format("{} lines are too few to tell how sets are chosen", sample.labelled);
  }
  std::string text = fmt::format(
      "neither a bit field, nor XORs of bits, nor a remainder sorts more than {:.1f} % of {} lines "
      "as they conflict",
      100 * best.match.agreement, sample.lines.size());
  if (!sample.shows_all_sets()) return text;
  return text + fmt::format(" ({} sets; {} consecutive bytes share one)", sample.sets.size(),
                            common_block_bytes(sample.lines, line_bytes));
}

}  // namespace

IndexFunction fit_index_function(const std::vector<PlacedLine>& lines, std::uint64_t line_bytes,
                                 std::uint64_t buffer_address) {
  require(line_bytes > 0, "a line has no bytes (offsets cannot be divided) pass its size");
  const IndexSample sample(to_addresses(lines, buffer_address));
  IndexCandidate best;
  IndexFunction none;
  if (sample.labelled < 2) {
    none.reason = "fewer than two lines have a known set";
    return none;
  }
  fit_masks(sample, best);
  if (best.match.agreement < 1) fit_modulo(sample, line_bytes, best);
  drop_needless_masks(sample, best);
  if (follows(sample, best) && has_evidence(sample, best.index)) {
    best.index.buffer_address = buffer_address;
    return best.index;
  }
  none.agreement = best.match.agreement;
  none.known_bits = independent_bits(sample);
  none.reason = why_none(sample, best, line_bytes);
  return none;
}

}  // namespace sonde
