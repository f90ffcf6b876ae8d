// Plain numbers inside, pretty ones only at the edge: text for people, and sizes read from text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde {

constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }

/// How numbers are shown in a unit that suits a typical one: 4.52e12 byte/s as 4.52 TB/s.
struct DisplayUnit {
  double divisor = 1;
  std::string text;
};
/// Bytes in binary units; bytes and operations per second and hertz in decimal ones; others as they
/// are.
DisplayUnit display_unit(double typical_value, std::string_view unit);

/// "48 KiB", "1.5 MiB", "130 MiB": at most three decimals, binary units.
std::string format_bytes(double size_bytes);
inline std::string format_bytes(std::uint64_t size_bytes) {
  return format_bytes(static_cast<double>(size_bytes));
}

/// A value with its unit as a person writes it: bytes and bytes/s scaled, others with up to six
/// significant digits.
std::string format_quantity(double value, std::string_view unit);

/// "24KB", "24 KiB", "2M", "512": KB and KiB both mean 1024 bytes, as in GPU papers.
/// @throws ConfigError if the text is no positive size.
std::uint64_t parse_bytes(std::string_view text);

/// A number, with KiB, MiB or GiB behind it or not; nothing if the text is something else.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace sonde
