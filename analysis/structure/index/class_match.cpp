// Counts every pair of classes once, by sorting.
#include "analysis/structure/index/class_match.hpp"

#include <algorithm>
#include <unordered_map>

namespace sonde {
namespace {

struct Pair {
  std::uint64_t left = 0;
  std::uint32_t right = 0;
  std::uint32_t items = 0;
};

std::vector<Pair> count_pairs(const std::vector<std::uint64_t>& left,
                              const std::vector<std::uint32_t>& right) {
  std::vector<Pair> items(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) items[i] = {left[i], right[i], 1};
  std::sort(items.begin(), items.end(), [](const Pair& a, const Pair& b) {
    return a.left != b.left ? a.left < b.left : a.right < b.right;
  });
  std::vector<Pair> pairs;
  for (const Pair& item : items) {
    if (!pairs.empty() && pairs.back().left == item.left && pairs.back().right == item.right) {
      ++pairs.back().items;
    } else {
      pairs.push_back(item);
    }
  }
  return pairs;
}

}  // namespace

ClassMatch match_classes(const std::vector<std::uint64_t>& left,
                         const std::vector<std::uint32_t>& right) {
  const std::vector<Pair> pairs = count_pairs(left, right);
  std::unordered_map<std::uint64_t, const Pair*> best_of_left;
  std::unordered_map<std::uint32_t, const Pair*> best_of_right;
  for (const Pair& pair : pairs) {
    const Pair*& of_left = best_of_left[pair.left];
    if (of_left == nullptr || pair.items > of_left->items) of_left = &pair;
    const Pair*& of_right = best_of_right[pair.right];
    if (of_right == nullptr || pair.items > of_right->items) of_right = &pair;
  }
  ClassMatch match;
  std::uint64_t agreeing = 0;
  for (const auto& [label, pair] : best_of_left) {
    if (best_of_right[pair->right] != pair) continue;
    agreeing += pair->items;
    ++match.classes;
  }
  match.agreement = static_cast<double>(agreeing) / static_cast<double>(left.size());
  return match;
}

}  // namespace sonde
