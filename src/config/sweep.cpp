#include "config/sweep.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

namespace sonde {
namespace {

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts{""};
  for (const char letter : text) {
    if (letter == mark) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// A number as text, rounded to 12 digits (0.1 + 0.2 gives 0.3); whole numbers without a point.
std::string canonical(double number) {
  constexpr double most_exact = 9007199254740992;  // 2^53
  const bool is_whole = number >= 0 && number <= most_exact && std::floor(number) == number;
  return is_whole ? fmt::format("{}", static_cast<std::uint64_t>(number))
                  : fmt::format("{:.12g}", number);
}

/// Parses a whole number; a seed of 64 bits does not fit a double.
std::optional<std::uint64_t> parse_whole(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string canonical(const std::string& text) {
  if (const auto whole = parse_whole(text)) return fmt::format("{}", *whole);
  const auto number = parse_quantity(text);
  return number ? canonical(*number) : text;
}

/// The values of "8:64:8" or "1:1024:*2"; empty if the text is no range.
std::vector<std::string> expand_range(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return {};
  const bool grows = parts.size() == 3 && parts[2].starts_with('*');
  const auto from = parse_quantity(parts[0]);
  const auto to = parse_quantity(parts[1]);
  const auto step = parts.size() == 2 ? 1.0 : parse_quantity(parts[2].substr(grows ? 1 : 0));
  if (!from || !to || !step) return {};
  const bool ends = grows ? *step > 1 && *from > 0 : *step > 0;
  if (!ends || *from > *to) {
    throw ConfigError(fmt::format(
        "the range '{}' has no end (it goes up, from 1 or more by a factor above 1, or by a step "
        "above 0) write FROM:TO:STEP or FROM:TO:*FACTOR",
        text));
  }
  constexpr double slack = 1e-9;  // relative; for rounding errors of sums such as 0.1 + 0.2
  std::vector<std::string> values;
  for (std::uint64_t i = 0; i <= most_points; ++i) {
    const auto steps = static_cast<double>(i);
    const double value = grows ? *from * std::pow(*step, steps) : *from + *step * steps;
    if (value > *to * (1 + slack)) break;
    values.push_back(canonical(value));
  }
  return values;
}

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

void read_text(const std::string& text, std::string& member) { member = text; }
void read_text(const std::string& text, std::vector<std::string>& member) {
  member = split(text, ',');
}
void read_text(const std::string& text, bool&) {
  throw ConfigError(fmt::format("'{}' cannot be swept", text));
}
template <class Number>
void read_text(const std::string& text, Number& member) {
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, member);
  if (error == std::errc() && stop == end) return;
  throw ConfigError(
      fmt::format("'{}' is not {}", text,
                  std::is_integral_v<Number> ? "a whole number of 0 or more" : "a number"));
}

/// Sets an option of the run; returns false if there is none of that name.
bool set_run_option(const std::string& name, const std::string& value, RunOptions& options) {
  bool found = false;
  for_each_run_option(options, [&](auto& member, const OptionText& option) {
    if (option.name != with_dashes(name)) return;
    found = true;
    const bool is_fixed = option.name == "backend" || option.name == "set";
    if (option.role != OptionRole::decides_results || is_fixed) {
      throw ConfigError(fmt::format("--sweep {}: this option is the same for the whole run", name));
    }
    try {
      read_text(value, member);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("--sweep {}: {}", name, error.what()));
    }
  });
  return found;
}

bool sets(const std::string& item, const std::string& option) {
  return item.starts_with(option + "=");
}

void set_option(const SweepAxis& axis, const std::string& value, RunOptions& options) {
  if (set_run_option(axis.option, value, options)) return;
  std::erase_if(options.set, [&](const std::string& item) { return sets(item, axis.option); });
  options.set.push_back(fmt::format("{}={}", axis.option, value));
}

/// For each step of a sweep, the index of the value on each axis.
std::vector<std::vector<std::size_t>> list_steps(const std::vector<SweepAxis>& axes,
                                                 const std::string& mode) {
  const bool is_zip = mode == "zip";
  std::size_t count = 1;
  for (const SweepAxis& axis : axes)
    count = is_zip ? axis.values.size() : count * axis.values.size();
  std::vector<std::vector<std::size_t>> steps(count, std::vector<std::size_t>(axes.size()));
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t left = i;
    for (std::size_t axis = axes.size(); axis-- > 0;) {  // the last one changes fastest
      steps[i][axis] = is_zip ? i : left % axes[axis].values.size();
      left /= axes[axis].values.size();
    }
  }
  return steps;
}

void check_axes(const std::vector<SweepAxis>& axes, const RunOptions& options) {
  double points = static_cast<double>(std::max<std::uint64_t>(options.repeat, 1));
  for (const SweepAxis& axis : axes) {
    if (std::ranges::count(axes, axis.option, &SweepAxis::option) > 1) {
      throw ConfigError(
          fmt::format("--sweep names {} twice: give all values at once", axis.option));
    }
    const bool is_zip = options.sweep_mode == "zip";
    if (is_zip && axis.values.size() != axes.front().values.size()) {
      throw ConfigError(fmt::format(
          "--sweep-mode zip: {} has {} values, {} has {} (each point takes one of each) give as "
          "many of each",
          axes.front().option, axes.front().values.size(), axis.option, axis.values.size()));
    }
    if (!is_zip || &axis == &axes.front()) points *= static_cast<double>(axis.values.size());
  }
  if (points > static_cast<double>(most_points)) {
    throw ConfigError(
        fmt::format("the sweep has {:.0f} points, at most {} are possible", points, most_points));
  }
}

/// @param steps number of points of each repeat
std::uint64_t count_repeats(const RunOptions& options, std::size_t steps) {
  if (!fills_time_budget(options)) return std::max<std::uint64_t>(options.repeat, 1);
  return std::clamp<std::uint64_t>(most_points / steps, 1, most_filling_repeats);
}

}  // namespace

SweepAxis parse_axis(const std::string& text) {
  const std::size_t mark = text.find('=');
  if (mark == std::string::npos || mark == 0 || mark + 1 == text.size()) {
    throw ConfigError(fmt::format(
        "'{}' is no axis of a sweep: write OPTION=VALUE,VALUE,... or OPTION=FROM:TO:STEP", text));
  }
  SweepAxis axis{.option = text.substr(0, mark), .values = {}};
  const std::string list = text.substr(mark + 1);
  const bool by_semicolon = list.find(';') != std::string::npos;
  for (const std::string& item : split(list, by_semicolon ? ';' : ',')) {
    if (item.empty()) continue;
    std::vector<std::string> range = expand_range(item);
    if (range.empty()) range.push_back(canonical(item));
    axis.values.insert(axis.values.end(), range.begin(), range.end());
  }
  std::vector<std::string> sorted = axis.values;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw ConfigError(
        fmt::format("--sweep {} has the value {} twice (see --repeat)", axis.option, *twice));
  }
  if (axis.values.empty()) throw ConfigError(fmt::format("--sweep '{}' has no values", text));
  return axis;
}

std::string name_sms_of(const std::string& axis, int sm_count) {
  const bool by_pairs = axis == "sms=pairs";
  if (!by_pairs && axis != "sms=each") return axis;
  std::string named = "sms=";
  for (int sm = 0; sm < sm_count; sm += by_pairs ? 2 : 1) {
    named +=
        by_pairs && sm + 1 < sm_count ? fmt::format("{}-{};", sm, sm + 1) : fmt::format("{};", sm);
  }
  return named;
}

SweepLayout lay_out_sweep(const RunOptions& options) {
  SweepLayout layout;
  for (const std::string& text : options.sweep) layout.axes.push_back(parse_axis(text));
  check_axes(layout.axes, options);
  RunOptions base = options;
  base.repeat = RunOptions{}.repeat;
  base.sweep.clear();
  base.sweep_mode = RunOptions{}.sweep_mode;
  const auto steps = list_steps(layout.axes, options.sweep_mode);
  for (std::uint64_t repeat = 0; repeat < count_repeats(options, steps.size()); ++repeat) {
    for (const auto& step : steps) {
      SweepPoint point{.options = base, .repeat_index = repeat, .at = {}};
      for (std::size_t i = 0; i < layout.axes.size(); ++i) {
        point.at.push_back(layout.axes[i].values[step[i]]);
        set_option(layout.axes[i], point.at.back(), point.options);
      }
      check_options(point.options);
      layout.points.push_back(std::move(point));
    }
  }
  return layout;
}

std::string hash_common_options(const RunOptions& options, const std::vector<SweepAxis>& axes) {
  const RunOptions usual;
  RunOptions common = options;
  common.seed = usual.seed;
  std::string names;
  for (const SweepAxis& axis : axes) {
    if (axis.option == "seed") continue;
    names += axis.option + ' ';
    std::erase_if(common.set, [&](const std::string& item) { return sets(item, axis.option); });
    for_each_option([&](auto member, const OptionText& option) {
      if (option.name == with_dashes(axis.option)) common.*member = usual.*member;
    });
  }
  return fmt::format("{:016x}", derive_seed(0, names + hash_options(common)));
}

}  // namespace sonde
