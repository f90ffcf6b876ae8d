#include "base/units.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace sonde {
namespace {

constexpr std::array binary_prefixes{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
constexpr std::array decimal_prefixes{"", "k", "M", "G", "T", "P"};

}  // namespace

DisplayUnit display_unit(double typical_value, std::string_view unit) {
  const bool binary = unit == "byte";
  if (!binary && unit != "byte/s" && unit != "Hz" && unit != "FLOP/s") {
    return {.divisor = 1, .text = unit == "1" ? "" : std::string(unit)};
  }
  const double base = binary ? 1024 : 1000;
  double divisor = 1;
  std::size_t power = 0;
  while (std::abs(typical_value) >= base * divisor && power + 1 < binary_prefixes.size()) {
    divisor *= base;
    ++power;
  }
  const char* prefix = (binary ? binary_prefixes : decimal_prefixes)[power];
  const std::string_view scaled = binary ? "B" : unit == "byte/s" ? "B/s" : unit;
  return {.divisor = divisor, .text = fmt::format("{}{}", prefix, scaled)};
}

std::string format_bytes(double size_bytes) { return format_quantity(size_bytes, "byte"); }

std::string format_quantity(double value, std::string_view unit) {
  const DisplayUnit display = display_unit(value, unit);
  if (display.text.empty()) return fmt::format("{:.6g}", value);
  if (display.text == unit && unit != "Hz") return fmt::format("{:.6g} {}", value, unit);
  return fmt::format("{:.4g} {}", value / display.divisor, display.text);
}

std::uint64_t parse_bytes(std::string_view text) {
  const auto refuse = [text] {
    return ConfigError(fmt::format(
        "'{}' is no size (a positive number of bytes is needed) write it like 512, 24KB or 1.5MiB",
        text));
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) throw refuse();
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    const std::size_t power =
        std::string_view("KMGT").find(static_cast<char>(std::toupper(unit.front())));
    if (power == std::string_view::npos) throw refuse();
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "B" && unit != "iB") throw refuse();
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double size_bytes = value * factor;
  if (!(size_bytes >= 1) || size_bytes > 1e18) throw refuse();
  return static_cast<std::uint64_t>(size_bytes);
}

std::optional<double> parse_quantity(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[]{
      {"", 1}, {"KiB", 1024.0}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}};
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  for (const auto& [unit, factor] : units) {
    if (std::string_view(stop, text.data() + text.size()) == unit) return number * factor;
  }
  return std::nullopt;
}

}  // namespace sonde
