// Units in text: code computes in plain numbers, and only text for people has scaled units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

/// How to show numbers of a typical size: 4.52e12 byte/s are 4.52 TB/s.
struct DisplayUnit {
  double divisor = 1;
  std::string text;
};
/// Bytes get binary units; bytes per second, FLOP per second and hertz get decimal ones; others are
/// not scaled.
DisplayUnit display_unit(double typical_value, std::string_view unit);

/// "48 KiB", "1.5 MiB", "130 MiB": as format_quantity.
std::string format_bytes(double size_bytes);
inline std::string format_bytes(std::uint64_t size_bytes) {
  return format_bytes(static_cast<double>(size_bytes));
}

/// A value with its unit: up to four significant digits if display_unit scales it, else up to six.
std::string format_quantity(double value, std::string_view unit);

/// Reads "24KB", "24 KiB", "2M", "512". KB and KiB both mean 1024 bytes, as in GPU papers.
/// @throws ConfigError if the text is not a positive size
std::uint64_t parse_bytes(std::string_view text);

/// Reads a number, optionally followed by KiB, MiB or GiB; nothing if the text is something else.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace sonde
