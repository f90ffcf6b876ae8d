// Each GPU once at each point.
#include "store/candidates.hpp"

#include <algorithm>

namespace sonde {

std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash) {
  const auto found = std::ranges::find(points, config_hash, &Point::config_hash);
  return static_cast<std::uint64_t>(found - points.begin());
}

bool Choice::holds(const std::string& uuid) const {
  const auto found = places_.lower_bound({uuid, ""});
  return found != places_.end() && found->first.first == uuid;
}

Candidate* Choice::add(Candidate one) {
  const auto [place, is_new] =
      places_.try_emplace(std::pair(one.uuid, one.config_hash), all_.size());
  if (!is_new) return &all_[place->second];
  all_.push_back(std::move(one));
  return nullptr;
}

void Choice::sort_by_rank() {
  std::ranges::stable_sort(all_, {}, &Candidate::rank);
  number_anew();
}

void Choice::sort_by_point(const std::vector<Point>& points) {
  std::ranges::stable_sort(
      all_, {}, [&points](const Candidate& one) { return index_of(points, one.config_hash); });
  number_anew();
}

void Choice::number_anew() {
  for (std::size_t i = 0; i < all_.size(); ++i) places_[{all_[i].uuid, all_[i].config_hash}] = i;
}

}  // namespace sonde
