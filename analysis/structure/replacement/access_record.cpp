// What counts as a prediction that was met.
#include "analysis/structure/replacement/access_record.hpp"

namespace sonde {

OutcomeTally& OutcomeTally::operator+=(const OutcomeTally& other) {
  accesses += other.accesses;
  explained += other.explained;
  predicted_misses += other.predicted_misses;
  false_alarms += other.false_alarms;
  seen_misses += other.seen_misses;
  surprises += other.surprises;
  return *this;
}

bool OutcomeTally::convincing() const {
  constexpr double least_agreement = 0.99;
  constexpr double most_unmet = 0.05;
  constexpr double most_outliers = 3e-3;
  const auto share = [](double part, std::uint64_t whole) {
    return part * static_cast<double>(whole);
  };
  return agreement() >= least_agreement &&
         static_cast<double>(false_alarms) <= share(most_unmet, predicted_misses) &&
         static_cast<double>(surprises) <=
             share(most_outliers, accesses) + share(most_unmet, seen_misses);
}

}  // namespace sonde
