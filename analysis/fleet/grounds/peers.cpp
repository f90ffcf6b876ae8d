// From series and their statistics to charges on the ground of peers.
#include "analysis/fleet/grounds/grounds.hpp"

#include "analysis/fleet/conditions.hpp"
#include "analysis/fleet/tolerance.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace sonde {
namespace {

constexpr double least_failing_confidence = 0.5;

using Parts = std::vector<std::vector<std::size_t>>;

class Judge {
 public:
  Judge(const RunResult& run, const Series& series, const MetricStatistics& statistics)
      : run_(run), series_(series), statistics_(statistics) {}

  std::vector<Charge> charges() const {
    if (const std::string why = too_much_scatter(); !why.empty()) return not_judged(why);
    return statistics_.ambiguous ? charge_all() : charge_outliers();
  }

 private:
  double warn() const { return series_.metric.warn; }
  std::size_t n() const { return series_.samples.size(); }
  std::string shown(double value) const {
    return series_.reference == 1 ? percent_text(value)
                                  : format_quantity(value, series_.metric.unit);
  }

  /// A note; no note for a metric without a better direction, which never gets a verdict.
  std::vector<Charge> not_judged(const std::string& why) const {
    if (series_.metric.better == Better::neither) return {};
    return {{.ground = Ground::peers,
             .metric = title_of(statistics_),
             .n = n(),
             .reason = fmt::format("not judged: {}, n={}", why, n())}};
  }

  /// The reason why nobody is judged: replicates scatter more than the tolerance. Else "".
  std::string too_much_scatter() const {
    const double reference = series_.reference_at(statistics_.center);
    const double scatter = typical(series_, &Sample::reproduced);
    if (!(reference > 0 && warn() * reference < within_factor * scatter)) return "";
    return fmt::format(
        "its tolerance of {:g} % is less than {:g} times the {} by which its value scatters "
        "between replicates (standard deviation)",
        100 * warn(), within_factor, percent_text(scatter / reference));
  }

  Charge charge_for(const Sample& sample, double from) const {
    return {.device = sample.device,
            .ground = Ground::peers,
            .metric = title_of(statistics_),
            .value = shown(sample.value),
            .reference = shown(from),
            .size = (sample.value - from) / series_.reference_at(from),
            .certainty = sample.confidence,
            .n = n()};
  }

  /// True if the deviation exceeds the tolerance, and also what scatter explains: that of the
  /// replicates of this device, of a typical device, and of the median of the majority.
  bool matters(const Sample& sample) const {
    const double usual = typical(series_, &Sample::repeat);
    const double of_center =
        median_error * usual / std::sqrt(static_cast<double>(statistics_.agreeing));
    const double difference = std::abs(sample.value - statistics_.center);
    return difference >= warn() * series_.reference_at(statistics_.center) &&
           difference > least_difference(series_, std::max(sample.repeat, usual), of_center);
  }

  Severity severity_of(const Charge& charge) const {
    if (!is_worse(series_.metric.better, charge.size)) return Severity::info;
    // Clocks change with power and cooling: a slow clock only warns, its effects may fail.
    const bool may_fail =
        charge.certainty >= least_failing_confidence && series_.metric.name != clock_metric.name;
    return may_fail && std::abs(charge.size) >= series_.metric.fail ? Severity::fail
                                                                    : Severity::warn;
  }

  std::string reason_of(const Charge& charge) const {
    if (series_.reference == 1) {
      return fmt::format("{} where its peers have {}, n={}", charge.value, charge.reference, n());
    }
    const std::size_t agreeing = statistics_.agreeing;
    return fmt::format("{} is {} its peers' {}, n={}{}", charge.value, side_text(charge.size),
                       charge.reference, n(),
                       agreeing < n() - 1 ? fmt::format(", of which {} agree", agreeing) : "");
  }

  std::string evidence_of(const Charge& charge) const {
    const double score = std::abs(charge.score);
    return tolerance_text(charge.size, warn()) + "; " +
           (statistics_.threshold > 0
                ? fmt::format("score {:.1f}, healthy groups of {} stay below {:.1f}", score,
                              statistics_.agreeing, statistics_.threshold)
                : fmt::format("{:.0f} x the scatter of the group, but {} devices are too few for a "
                              "score verdict",
                              score, n()));
  }

  /// Devices clearly outside the majority. If one is better by the failing tolerance, it may be the
  /// only healthy device: then all are charged.
  std::vector<Charge> charge_outliers() const {
    std::vector<Charge> charges;
    if (!(statistics_.scale > 0)) return charges;
    const double limit =
        agreeing_distance(series_, statistics_.agreeing, statistics_.center, statistics_.scale);
    for (const Sample& sample : series_.samples) {
      const double deviation = sample.value - statistics_.center;
      if (std::abs(deviation) <= limit || !matters(sample)) continue;
      Charge charge = charge_for(sample, statistics_.center);
      const bool far = std::abs(charge.size) >= series_.metric.fail;
      if (far && is_worse(series_.metric.better, -charge.size)) return charge_all();
      charge.score = deviation / statistics_.scale;
      charge.severity = severity_of(charge);
      charge.reason = reason_of(charge);
      charge.evidence = evidence_of(charge);
      charges.push_back(std::move(charge));
    }
    return charges;
  }

  /// Parts of the group between gaps larger than the tolerance: indices of samples, largest first.
  Parts split() const {
    std::vector<std::size_t> order(n());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return series_.samples[i].value; });
    const double repeat = typical(series_, &Sample::repeat);
    const double gap = std::max(warn() * series_.reference_at(statistics_.median),
                                least_difference(series_, repeat, repeat));
    Parts parts{{order.front()}};
    for (std::size_t i = 1; i < order.size(); ++i) {
      const double step = series_.samples[order[i]].value - series_.samples[order[i - 1]].value;
      if (step >= gap) parts.emplace_back();
      parts.back().push_back(order[i]);
    }
    std::ranges::reverse(parts);
    return parts;
  }

  /// Charges every device of a group that consists of several parts.
  std::vector<Charge> charge_all() const {
    const Parts parts = split();
    if (parts.size() < 2) return not_judged("devices scatter too far apart");
    const std::vector<std::size_t>& best =
        series_.metric.better == Better::lower ? parts.back() : parts.front();
    const std::string text = parts_text(parts);
    std::vector<Charge> charges;
    for (std::size_t i = 0; i < series_.samples.size(); ++i) {
      const Sample& sample = series_.samples[i];
      Charge charge = charge_for(sample, series_.samples[best.back()].value);
      charge.undecided = true;
      charge.best = std::ranges::find(best, i) != best.end();
      charge.severity = series_.metric.better == Better::neither ? Severity::info : Severity::warn;
      charge.reference = "";
      charge.reason =
          fmt::format("{}; the group falls into parts, n={}: {}: cannot tell which is wrong",
                      charge.value, n(), text);
      if (n() == 2) {
        const double other = series_.samples[1 - i].value;
        charge.reference = shown(other);
        charge.size = (sample.value - other) / series_.reference_at((sample.value + other) / 2);
        charge.reason = fmt::format(
            "{}, differs from its only peer's {} by {}, n=2: cannot tell which is wrong",
            charge.value, charge.reference, percent_text(charge.size));
      }
      charges.push_back(std::move(charge));
    }
    return charges;
  }

  /// "2 have 4.5 TB/s; 1 has 3.6 TB/s (node01 rank 2)": names the devices of the smallest part.
  std::string parts_text(const Parts& parts) const {
    const auto smallest = std::ranges::min_element(parts, {}, &std::vector<std::size_t>::size);
    std::vector<std::string> texts;
    for (const std::vector<std::size_t>& part : parts) {
      std::vector<double> values;
      std::vector<std::size_t> devices;
      for (const std::size_t i : part) {
        values.push_back(series_.samples[i].value);
        devices.push_back(series_.samples[i].device);
      }
      texts.push_back(fmt::format("{} {} {}", part.size(), part.size() == 1 ? "has" : "have",
                                  shown(median(values))));
      if (&part == &*smallest) texts.back() += " (" + name_devices(run_, devices) + ")";
    }
    return fmt::format("{}", fmt::join(texts, "; "));
  }

  const RunResult& run_;
  const Series& series_;
  const MetricStatistics& statistics_;
};

}  // namespace

const MetricStatistics& compare_peers(const RunResult& run, const Series& series,
                                      FleetAnalysis& analysis) {
  const MetricStatistics& statistics = analysis.statistics.emplace_back(describe(series));
  if (series.samples.size() >= 2 && series.metric.not_compared.empty()) {
    std::ranges::move(Judge(run, series, statistics).charges(),
                      std::back_inserter(analysis.charges));
  }
  return statistics;
}

}  // namespace sonde
