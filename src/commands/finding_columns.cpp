// Splits findings into forms and numbers, and puts them together again.
#include "commands/finding_columns.hpp"

#include <algorithm>
#include <utility>

namespace sonde {
void FindingColumns::add(std::size_t device, const std::string& job,
                         std::vector<Finding> findings) {
  auto& columns = columns_[job];
  for (Finding& form : findings) {
    Column& column = columns[std::exchange(form.metric, {})];
    Entry entry{.device = static_cast<std::uint32_t>(device),
                .confidence = std::exchange(form.confidence, 0),
                .repeatability = std::exchange(form.repeatability, 0),
                .reproducibility = std::exchange(form.reproducibility, 0)};
    if (auto* number = std::get_if<double>(&form.value)) entry.number = std::exchange(*number, 0);
    if (column.forms.empty() || column.forms.back() != form) {
      column.forms.push_back(std::move(form));
    }
    entry.form = static_cast<std::uint32_t>(column.forms.size() - 1);
    column.entries.push_back(entry);
  }
}

std::vector<std::string> FindingColumns::metrics_of(const std::string& job) const {
  std::vector<std::string> metrics;
  const auto columns = columns_.find(job);
  if (columns == columns_.end()) return metrics;
  for (const auto& [metric, column] : columns->second) metrics.push_back(metric);
  std::ranges::sort(metrics);
  return metrics;
}

void FindingColumns::for_each(
    const std::string& job, const std::string& metric,
    const std::function<void(std::size_t device, Finding finding)>& take) const {
  const auto columns = columns_.find(job);
  if (columns == columns_.end() || !columns->second.contains(metric)) return;
  const Column& column = columns->second.at(metric);
  for (const Entry& entry : column.entries) {
    Finding finding = column.forms[entry.form];
    finding.metric = metric;
    finding.confidence = entry.confidence;
    finding.repeatability = entry.repeatability;
    finding.reproducibility = entry.reproducibility;
    if (auto* number = std::get_if<double>(&finding.value)) *number = entry.number;
    take(entry.device, std::move(finding));
  }
}

}  // namespace sonde
