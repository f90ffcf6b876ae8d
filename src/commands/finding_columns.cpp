// Findings apart and together again.
#include "commands/finding_columns.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

/// To the last bit: NaN is NaN.
bool are_same(double one, double other) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
}

bool are_same(const std::optional<Interval>& one, const std::optional<Interval>& other) {
  return one.has_value() == other.has_value() &&
         (!one || (are_same(one->low, other->low) && are_same(one->high, other->high)));
}

}  // namespace

FindingColumns::Column& FindingColumns::column_of(std::size_t device, const std::string& job,
                                                  const std::string& metric) {
  if (device != device_) next_ = 0;
  device_ = device;
  const auto is_it = [&](const Place& place) {
    return place->first.second == metric && place->first.first == job;
  };
  if (next_ >= order_.size() || !is_it(order_[next_])) {
    const auto place = columns_.try_emplace(Key{job, metric}).first;
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(next_), place);
    if (order_.size() > 2 * columns_.size()) order_.resize(next_ + 1);
  }
  return order_[next_++]->second;
}

void FindingColumns::add(std::size_t device, const std::string& job, const Finding& finding) {
  Column& column = column_of(device, job, finding.metric);
  if (column.kept.empty() || !is_same(column, column.kept.back(), finding)) {
    column.kept.push_back(keep(column, finding));
  }
  column.devices.push_back(static_cast<std::uint32_t>(device));
  column.places.push_back(static_cast<std::uint32_t>(column.kept.size() - 1));
}

bool FindingColumns::has_form(const Form& form, const Finding& finding) const {
  return form.kind == finding.value.index() && form.status == finding.status &&
         form.samples == finding.samples && form.replicates == finding.replicates &&
         are_same(form.confidence, finding.confidence) &&
         are_same(form.interval, finding.interval) && form.modes == finding.modes &&
         texts_[form.reason] == finding.reason;
}

bool FindingColumns::is_same(const Column& column, const Kept& kept, const Finding& finding) const {
  if (!has_form(column.forms[kept.form], finding) ||
      !are_same(kept.repeatability, finding.repeatability) ||
      !are_same(kept.reproducibility, finding.reproducibility)) {
    return false;
  }
  if (const auto* number = std::get_if<double>(&finding.value)) {
    return are_same(kept.number, *number);
  }
  if (const auto* text = std::get_if<std::string>(&finding.value)) {
    return texts_[kept.value] == *text;
  }
  if (const auto* vector = std::get_if<std::vector<double>>(&finding.value)) {
    const auto begin = column.numbers.begin() + static_cast<std::ptrdiff_t>(kept.value);
    return vector->size() == kept.length &&
           std::equal(vector->begin(), vector->end(), begin,
                      [](double one, double other) { return are_same(one, other); });
  }
  return true;
}

FindingColumns::Kept FindingColumns::keep(Column& column, const Finding& finding) {
  if (column.forms.empty() || !has_form(column.forms.back(), finding)) {
    column.forms.push_back({.kind = finding.value.index(),
                            .status = finding.status,
                            .reason = place_of(finding.reason),
                            .confidence = finding.confidence,
                            .samples = finding.samples,
                            .replicates = finding.replicates,
                            .modes = finding.modes,
                            .interval = finding.interval});
  }
  Kept kept{.form = static_cast<std::uint32_t>(column.forms.size() - 1),
            .repeatability = finding.repeatability,
            .reproducibility = finding.reproducibility};
  if (const auto* number = std::get_if<double>(&finding.value)) kept.number = *number;
  if (const auto* text = std::get_if<std::string>(&finding.value)) kept.value = place_of(*text);
  if (const auto* vector = std::get_if<std::vector<double>>(&finding.value)) {
    kept.value = static_cast<std::uint32_t>(column.numbers.size());
    kept.length = static_cast<std::uint32_t>(vector->size());
    column.numbers.insert(column.numbers.end(), vector->begin(), vector->end());
  }
  return kept;
}

std::uint32_t FindingColumns::place_of(const std::string& text) {
  const auto next = static_cast<std::uint32_t>(texts_.size());
  const auto [found, is_new] = text_places_.try_emplace(text, next);
  if (is_new) texts_.push_back(text);
  return found->second;
}

std::vector<std::string> FindingColumns::metrics_of(const std::string& job) const {
  std::vector<std::string> metrics;
  for (auto at = columns_.lower_bound({job, ""}); at != columns_.end() && at->first.first == job;
       ++at) {
    metrics.push_back(at->first.second);
  }
  return metrics;
}

void FindingColumns::for_each(
    const std::string& job, const std::string& metric, RowRange devices,
    const std::function<void(std::size_t device, Finding finding)>& take) const {
  const auto found = columns_.find({job, metric});
  if (found == columns_.end()) return;
  const Column& column = found->second;
  const auto first = std::ranges::lower_bound(column.devices, devices.offset);
  for (auto i = static_cast<std::size_t>(first - column.devices.begin());
       i < column.devices.size() && column.devices[i] < devices.offset + devices.length; ++i) {
    take(column.devices[i], finding_of(metric, column, column.kept[column.places[i]]));
  }
}

std::vector<double> FindingColumns::vector_of(const Column& column, const Kept& kept) {
  const auto begin = column.numbers.begin() + static_cast<std::ptrdiff_t>(kept.value);
  return {begin, begin + static_cast<std::ptrdiff_t>(kept.length)};
}

Finding FindingColumns::finding_of(const std::string& metric, const Column& column,
                                   const Kept& kept) const {
  const Form& form = column.forms[kept.form];
  Finding finding{.metric = metric,
                  .value = {},
                  .status = form.status,
                  .reason = texts_[form.reason],
                  .confidence = form.confidence,
                  .samples = form.samples,
                  .repeatability = kept.repeatability,
                  .reproducibility = kept.reproducibility,
                  .replicates = form.replicates,
                  .modes = form.modes,
                  .interval = form.interval};
  if (form.kind == Value(0.0).index()) finding.value = kept.number;
  if (form.kind == Value(std::string()).index()) finding.value = texts_[kept.value];
  if (form.kind == Value(std::vector<double>()).index()) {
    finding.value = vector_of(column, kept);
  }
  return finding;
}

}  // namespace sonde
