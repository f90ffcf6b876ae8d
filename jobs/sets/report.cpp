// Sets as findings, each with what it rests on; what was not found is left to the job, which
// reports the rest of its metrics with the reason given here.
#include "jobs/sets/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <map>

namespace sonde {
namespace {

// Sets that must agree on their ways where there are too many to look at each.
constexpr std::size_t enough_seen_sets = 8;

std::string explain(const SetLayout& layout) {
  constexpr std::size_t most_listed = 20;
  const Lines& lines = layout.conflict->lines;
  std::string text = fmt::format("{} lines make the smallest set that overflows", lines.size());
  if (lines.size() <= most_listed) text += fmt::format(" (at {:#x})", fmt::join(lines, ", "));
  text += fmt::format("; {:.2f} % of {} sets in other chases did as predicted",
                      100 * layout.checked.share(), layout.checked.asked);
  if (layout.short_sets > 0) {
    text += fmt::format(
        "; memory has too few lines of {} of them to overfill those: taken to be like the others",
        layout.short_sets);
  }
  if (layout.smaller_sets > 0) {
    text +=
        fmt::format("; {} of them kept a way less in this run, and {} taken to be like the others",
                    layout.smaller_sets, layout.smaller_sets == 1 ? "is" : "are");
  }
  return text;
}

/// What the winner explains, and the best of the others.
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
      fmt::format("seen of the address: bits {}-{}", std::countr_zero(index.known_bits),
                  std::bit_width(index.known_bits) - 1);
  probe.run().report(found(metric, describe(index), confidence, layout.checked.asked), seen);
}

/// @param line_confidence sets of lines that may be others are no surer than the lines
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

/// The commonest associativity among the sets seen, and how many have it.
struct UsualWays {
  std::uint32_t ways = 0;
  std::size_t sets = 0;
};
UsualWays usual_ways(const std::vector<SeenSet>& seen) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const SeenSet& set : seen) ++counts[set.ways];
  UsualWays usual;
  for (const auto& [ways, sets] : counts) {
    if (sets > usual.sets) usual = {ways, sets};
  }
  return usual;
}

/// As many sets as the lines searched are parts like those seen, if that is near a power of two:
/// shares of so few lines are no count. nullopt, too, if they would hold less than what was seen to
/// fit, or far more.
std::optional<double> infer_sets(const SetLayout& layout, std::uint32_t ways,
                                 std::uint64_t fitting_lines) {
  constexpr double near_power = 0.06;
  constexpr double most_excess = 1.25;
  std::uint64_t members = 0;
  for (const SeenSet& set : layout.seen_sets) members += set.members;
  const double shares = static_cast<double>(layout.seen_lines * layout.seen_sets.size()) /
                        static_cast<double>(members);
  const double sets = std::exp2(std::round(std::log2(shares)));
  const auto fitting = static_cast<double>(fitting_lines);
  if (std::abs(shares - sets) > near_power * sets) return std::nullopt;
  if (sets * ways < fitting || sets * ways > most_excess * fitting) return std::nullopt;
  return sets;
}

/// What some of many sets show, where no function tells which lines the others have.
void report_seen_sets(const SetsProbe& probe, const SetLayout& layout) {
  constexpr double inferred_confidence = 0.5;
  const UsualWays usual = usual_ways(layout.seen_sets);
  const std::uint64_t seen = layout.seen_sets.size();
  probe.run().report(found(probe.name() + ".ways", static_cast<double>(usual.ways),
                           static_cast<double>(usual.sets) / static_cast<double>(seen), seen),
                     fmt::format("{} of {} sets seen have so many", usual.sets, seen));
  const std::string metric = probe.name() + ".sets";
  const auto inferred = infer_sets(layout, usual.ways, probe.pool().cached_lines);
  if (usual.sets < seen || !inferred) {
    return probe.run().report(not_resolvable(
        metric, fmt::format("{} sets seen do not tell how many others there are", seen)));
  }
  probe.run().report(
      found(metric, *inferred, inferred_confidence, seen),
      fmt::format("each of {} sets seen has its share of {} lines", seen, layout.seen_lines));
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
    if (probe.traits().answers_in_part && layout.seen_sets.size() >= enough_seen_sets) {
      report_seen_sets(probe, layout);
    }
  }
  // Lines of sets that other chases contradict need not be of one set.
  const bool contradicted = layout.resolved() && !found.confirmed();
  if (found.replacement && !contradicted)
    report_replacement(probe, *found.replacement, found.line_confidence);
}

}  // namespace sonde
