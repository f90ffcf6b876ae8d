// Reports sets with their evidence, and gives the job the reason for its remaining metrics.
#include "jobs/sets/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

std::string explain(const SetLayout& layout) {
  constexpr std::size_t most_listed = 20;
  const Lines& lines = layout.conflict->lines;
  std::string text =
      fmt::format("the smallest set of lines that overflows has {} lines", lines.size());
  if (lines.size() <= most_listed) text += fmt::format(" (at {:#x})", fmt::join(lines, ", "));
  text += fmt::format("; {:.2f} % of {} sets behaved as predicted in other chases",
                      100 * layout.checked.share(), layout.checked.asked);
  if (layout.short_sets > 0) {
    text += fmt::format(
        "; memory has too few lines to overfill {} of them: assumed to be like the others",
        layout.short_sets);
  }
  if (layout.smaller_sets > 0) {
    text += fmt::format(
        "; {} of them kept one way less in this run, and {} assumed to be like the others",
        layout.smaller_sets, layout.smaller_sets == 1 ? "is" : "are");
  }
  return text;
}

/// The agreement of the best policy and of the second best.
std::string explain(const ReplacementFit& fit) {
  const PolicyScore* second = nullptr;
  for (const PolicyScore& score : fit.scores) {
    if (score.policy != *fit.policy && (!second || score.agreement > second->agreement)) {
      second = &score;
    }
  }
  std::string text = fit.reason.empty() ? std::string() : fit.reason + "; ";
  text += fmt::format("explains {:.2f} % of the accesses", 100 * fit.agreement);
  if (second != nullptr) {
    text += fmt::format(", {} {:.2f} %", to_text(second->policy), 100 * second->agreement);
  }
  return text;
}

void report_index(const SetsProbe& probe, const SetLayout& layout, double confidence) {
  const IndexFunction& index = layout.index;
  const std::string metric = probe.name() + ".index_function";
  if (index.kind == IndexKind::unresolved) {
    return probe.run().report(not_resolvable(metric, index.reason));
  }
  const std::string seen =
      fmt::format("tested on address bits {}-{}", std::countr_zero(index.known_bits),
                  std::bit_width(index.known_bits) - 1);
  probe.run().report(found(metric, describe(index), confidence, layout.checked.asked), seen);
}

/// @param line_confidence upper bound of the confidence in the sets
void report_layout(const SetsProbe& probe, const SetLayout& layout, double line_confidence) {
  const double confidence = std::min(layout.confidence(), line_confidence);
  const auto report = [&](const char* metric, Value value, std::string reason = {}) {
    probe.run().report(
        found(probe.name() + metric, std::move(value), confidence, layout.checked.asked),
        std::move(reason));
  };
  const auto set_count = static_cast<double>(layout.ways_per_set.size());
  report(".sets", set_count, explain(layout));
  report(".ways", static_cast<double>(layout.lines()) / set_count);
  report(".ways_per_set",
         std::vector<double>(layout.ways_per_set.begin(), layout.ways_per_set.end()));
  report(".tag_reach_bytes", static_cast<double>(layout.lines() * probe.pool().line_bytes));
  report_index(probe, layout, confidence);
}

void report_replacement(const SetsProbe& probe, const ReplacementFit& fit, double line_confidence) {
  const std::string metric = probe.name() + ".replacement";
  const std::string probabilities = probe.name() + ".way_probability";
  const auto samples = static_cast<std::uint64_t>(fit.scores.size());
  if (!fit.policy || !fit.alike.empty()) {
    probe.run().report(not_resolvable(metric, fit.reason));
  } else {
    probe.run().report(found(metric, std::string(to_text(*fit.policy)),
                             std::min(fit.confidence, line_confidence), samples),
                       explain(fit));
  }
  const bool may_be_random = std::ranges::any_of(fit.alike, [](Policy policy) {
    return policy == Policy::random || policy == Policy::weighted_ways;
  });
  if (may_be_random || (!fit.policy && fit.alike.empty())) {
    probe.run().report(not_resolvable(probabilities, fit.reason));
  } else if (fit.way_probability.empty()) {
    probe.run().report(not_present(probabilities, "victims are not chosen at random"));
  } else {
    probe.run().report(found(probabilities, fit.way_probability, fit.confidence, samples));
  }
}

}  // namespace

void report_sets(const SetsProbe& probe, SetFindings& found) {
  if (!found.reason.empty()) return;  // there was nothing to search with
  const SetLayout& layout = found.layout;
  if (found.confirmed()) {
    report_layout(probe, layout, found.line_confidence);
  } else if (layout.resolved()) {
    found.reason = "found, but not confirmed: " + explain(layout);
  } else {
    found.reason = layout.reason;
  }
  // If other chases contradict the sets, their lines may belong to several sets.
  const bool contradicted = layout.resolved() && !found.confirmed();
  if (found.replacement && !contradicted)
    report_replacement(probe, *found.replacement, found.line_confidence);
}

}  // namespace sonde
