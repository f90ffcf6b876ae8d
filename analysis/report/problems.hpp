// What is wrong with a run and what to do about it: the part of the reports that comes first.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// One thing that is wrong: a device with all its findings, or a node or group finding.
struct Problem {
  struct Line {
    std::string_view label;  // "what" (its cause or worst finding), "shown", "likely" (the
                             // fault), "sure", "also"
    std::string text;
  };
  std::string badge;                       // "FAIL", "WARN", "LOST", "INCOMPLETE", "NOTE"
  std::string where;                       // node, rank, UUID, setting; or node; or group
  std::vector<Line> lines;                 // none is empty
  std::vector<std::string> actions;        // what to do, most useful first
  std::optional<std::size_t> device = {};  // into RunResult::devices, if it is about one
  std::string metric = "";                 // of its worst finding, if that rests on one
  std::string setting = "";                // of a sweep: where the device shows it; `lines` name
                                           // the others
};

/// Everything that is wrong, worst first: lost, failed and incomplete devices, nodes, warnings.
/// What a GPU shows at several settings of a sweep for the same cause is one problem.
std::vector<Problem> problems(const RunResult& run, const FleetAnalysis& analysis);
/// Findings of no weight, one line each.
std::vector<std::string> notes(const RunResult& run, const FleetAnalysis& analysis);

}  // namespace sonde
