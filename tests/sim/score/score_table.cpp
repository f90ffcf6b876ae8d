// Counts and prints.
#include "sim/score/score_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace sonde::test {
namespace {

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
}

void print_row(const std::string& name, const Count& count) {
  std::cout << fmt::format("{:<26}{:>7}{:>7}{:>12}{:>7}{:>9.1f} %{:>11}{:>9.1f} %\n", name,
                           count.all(), count.right, count.unresolved, count.wrong,
                           100 * count.honest_share(), count.confident,
                           100 * count.confident_right_share());
}

void print_lines(const char* title, std::vector<std::string> lines) {
  if (lines.empty()) return;
  std::ranges::sort(lines);
  std::cout << '\n' << title << '\n';
  for (const std::string& line : lines) std::cout << "  " << line << '\n';
}

}  // namespace

void Count::add(const ScoredValue& value) {
  right += value.verdict == Verdict::right;
  unresolved += value.verdict == Verdict::unresolvable;
  wrong += value.verdict == Verdict::wrong;
  confident += value.is_confident;
  confident_and_right += value.is_confident && value.verdict == Verdict::right;
}

double Count::honest_share() const { return share(right + unresolved, all()); }
double Count::unresolved_share() const { return all() == 0 ? 0 : share(unresolved, all()); }
double Count::confident_right_share() const { return share(confident_and_right, confident); }

void ScoreTable::add(const GpuScore& score) {
  ++gpus_;
  for (const ScoredValue& value : score.values) {
    by_family_[family_of(value.metric)].add(value);
    by_metric_[value.metric].add(value);
    total_.add(value);
    if (value.verdict == Verdict::wrong) wrong_.push_back(value.line);
    if (value.verdict == Verdict::unresolvable) unresolved_.push_back(value.line);
  }
  lost_jobs_.insert(lost_jobs_.end(), score.lost_jobs.begin(), score.lost_jobs.end());
  for (const auto& [job, seconds] : score.job_seconds) job_seconds_[job] += seconds;
  for (const auto& [job, metrics] : score.not_judged) {
    not_judged_[job] = std::max(not_judged_[job], metrics);
  }
}

void ScoreTable::print(bool with_unresolved) const {
  std::cout << fmt::format("{:<26}{:>7}{:>7}{:>12}{:>7}{:>11}{:>11}{:>11}\n", "family", "values",
                           "right", "unresolved", "wrong", "honest", "confident", "right");
  for (const auto& [family, count] : by_family_) print_row(family, count);
  print_row(fmt::format("all of {} GPUs", gpus_), total_);
  std::vector<std::pair<std::uint64_t, std::string>> worst;
  for (const auto& [metric, count] : by_metric_) {
    if (count.wrong > 0) worst.emplace_back(count.wrong, metric);
  }
  std::ranges::sort(worst, std::greater<>());
  std::cout << "\nwrong most often:";
  for (std::size_t i = 0; i < std::min<std::size_t>(worst.size(), 12); ++i) {
    std::cout << fmt::format(" {} {}", worst[i].second, worst[i].first);
  }
  std::cout << "\nnot judged, metrics by job:";
  for (const auto& [job, metrics] : not_judged_) std::cout << fmt::format(" {} {}", job, metrics);
  std::cout << "\nseconds by job:";
  for (const auto& [job, seconds] : job_seconds_) {
    std::cout << fmt::format(" {} {:.1f}", job, seconds);
  }
  std::cout << '\n';
  print_lines("lost jobs", lost_jobs_);
  print_lines("wrong (--print-model writes the model)", wrong_);
  if (with_unresolved) print_lines("unresolved", unresolved_);
  std::cout << std::flush;
}

std::vector<std::string> ScoreTable::missed(const Bars& bars) const {
  std::vector<std::string> lines;
  const auto ask = [&](bool is_met, std::string text) {
    if (!is_met) lines.push_back(std::move(text));
  };
  ask(total_.all() > 0, "nothing was judged");
  ask(total_.honest_share() >= bars.least_honest_share,
      fmt::format("{:.2f} % right or honest, asked are {:.2f} %", 100 * total_.honest_share(),
                  100 * bars.least_honest_share));
  ask(total_.unresolved_share() <= bars.most_unresolved_share,
      fmt::format("{:.2f} % unresolved, at most {:.2f} % may be", 100 * total_.unresolved_share(),
                  100 * bars.most_unresolved_share));
  ask(total_.confident_right_share() >= bars.least_confident_share,
      fmt::format("{:.2f} % of the confident answers right, asked are {:.2f} %",
                  100 * total_.confident_right_share(), 100 * bars.least_confident_share));
  ask(lost_jobs_.size() <= bars.most_lost_jobs,
      fmt::format("{} jobs lost, at most {} may be", lost_jobs_.size(), bars.most_lost_jobs));
  for (const auto& [family, count] : by_family_) {
    ask(count.honest_share() >= bars.least_family_share,
        fmt::format("{}: {:.2f} % right or honest, asked are {:.2f} % of each family", family,
                    100 * count.honest_share(), 100 * bars.least_family_share));
  }
  return lines;
}

}  // namespace sonde::test
