// Sets of a function against labelled sets: lines that they share are counted once.
#include "analysis/structure/index/index_sample.hpp"

#include <algorithm>
#include <set>

namespace sonde {
namespace {

/// Lines that a function and the labels put into the same two sets.
struct SharedLines {
  std::uint64_t index_set = 0;
  std::uint32_t label = 0;
  std::size_t lines = 0;
};

std::vector<SharedLines> count_shared_lines(const IndexSample& sample, const IndexFunction& index) {
  std::vector<SharedLines> counts;
  for (const auto& [label, offsets] : sample.sets) {
    std::map<std::uint64_t, std::size_t> lines_by_set;
    for (std::uint64_t offset : offsets) ++lines_by_set[set_of(index, offset)];
    for (const auto& [set, lines] : lines_by_set) counts.push_back({set, label, lines});
  }
  return counts;
}

/// Those that are the largest part of both sets.
std::vector<SharedLines> match_sets(const std::vector<SharedLines>& counts) {
  std::map<std::uint64_t, const SharedLines*> most_of_index_set;
  std::map<std::uint32_t, const SharedLines*> most_of_label;
  for (const SharedLines& shared : counts) {
    const SharedLines*& of_index_set = most_of_index_set[shared.index_set];
    const SharedLines*& of_label = most_of_label[shared.label];
    if (of_index_set == nullptr || shared.lines > of_index_set->lines) of_index_set = &shared;
    if (of_label == nullptr || shared.lines > of_label->lines) of_label = &shared;
  }
  std::vector<SharedLines> matching;
  for (const auto& [set, shared] : most_of_index_set) {
    if (most_of_label[shared->label] == shared) matching.push_back(*shared);
  }
  return matching;
}

}  // namespace

IndexSample::IndexSample(const std::vector<PlacedLine>& placed) : lines(placed) {
  const auto others = std::stable_partition(
      lines.begin(), lines.end(), [](const PlacedLine& line) { return line.set != other_set; });
  labelled = static_cast<std::size_t>(others - lines.begin());
  for (auto line = lines.begin(); line != others; ++line) {
    sets[line->set].push_back(line->offset_bytes);
  }
}

IndexMatch match_index(const IndexSample& sample, const IndexFunction& index) {
  std::set<std::uint64_t> matched_sets;
  std::size_t right = 0;
  for (const SharedLines& shared : match_sets(count_shared_lines(sample, index))) {
    matched_sets.insert(shared.index_set);
    right += shared.lines;
  }
  const auto intruders = static_cast<std::size_t>(
      std::count_if(sample.lines.begin() + static_cast<std::ptrdiff_t>(sample.labelled),
                    sample.lines.end(), [&](const PlacedLine& other) {
                      return matched_sets.contains(set_of(index, other.offset_bytes));
                    }));
  const std::size_t agreeing = right + (sample.lines.size() - sample.labelled) - intruders;
  return {.agreement = static_cast<double>(agreeing) / static_cast<double>(sample.lines.size()),
          .overlap = static_cast<double>(right) / static_cast<double>(sample.labelled + intruders),
          .matched = matched_sets.size()};
}

}  // namespace sonde
