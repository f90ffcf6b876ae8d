// Reads the kernel's log to its end, and finds the lines of the driver that name a GPU.
#include "device/cuda/xids.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace sonde::cuda {
namespace {

constexpr std::size_t record_bytes = 8192;        // the longest that the kernel makes
constexpr std::size_t most_log_bytes = 64 << 20;  // far more than any log buffer

/// A whole number at the beginning of the text, which is then cut off.
std::optional<unsigned long long> take_number(std::string_view& text, int base) {
  unsigned long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

struct PciPlace {
  std::array<unsigned long long, 3> numbers{};  // domain, bus, device
  bool operator==(const PciPlace&) const = default;
};

/// From "0000:18:00", which is cut off.
std::optional<PciPlace> take_place(std::string_view& text) {
  PciPlace place;
  for (std::size_t i = 0; i < place.numbers.size(); ++i) {
    if (i > 0 && !take(text, ':')) return std::nullopt;
    const auto number = take_number(text, 16);
    if (!number) return std::nullopt;
    place.numbers[i] = *number;
  }
  return place;
}

/// The code in a line such as "NVRM: Xid (PCI:0000:18:00): 79, ...", if it is of that GPU.
std::optional<int> xid_of(std::string_view line, const PciPlace& gpu) {
  constexpr std::string_view mark = "NVRM: Xid (PCI:";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + mark.size());
  if (take_place(line) != gpu || !take(line, ')') || !take(line, ':') || !take(line, ' ')) {
    return std::nullopt;
  }
  const auto code = take_number(line, 10);
  constexpr unsigned long long most = 1'000'000;
  return code && *code < most ? std::optional(static_cast<int>(*code)) : std::nullopt;
}

/// When a record was written: its third number.
std::optional<double> seconds_of(std::string_view line) {
  const auto priority = take_number(line, 10);
  if (!priority || !take(line, ',') || !take_number(line, 10) || !take(line, ',')) {
    return std::nullopt;
  }
  const auto microseconds = take_number(line, 10);
  return microseconds ? std::optional(static_cast<double>(*microseconds) * 1e-6) : std::nullopt;
}

}  // namespace

XidLog find_xids(std::string_view log, std::string_view pci_bus_id) {
  XidLog found;
  const auto gpu = take_place(pci_bus_id);
  if (!gpu) {
    found.unreadable = "the driver does not tell where on the bus the GPU is";
    return found;
  }
  bool first = true;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (const auto seconds = seconds_of(line); seconds && std::exchange(first, false)) {
      found.begins_after_s = *seconds;
    }
    if (const auto code = xid_of(line, *gpu)) found.codes.push_back(*code);
  }
  return found;
}

XidLog read_xids(std::string_view pci_bus_id, const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  XidLog refused;
  if (file < 0) {
    refused.unreadable =
        fmt::format("{} cannot be opened: {}", path, std::generic_category().message(errno));
    return refused;
  }
  std::string log;
  std::array<char, record_bytes> record{};
  int error = 0;
  while (error == 0 && log.size() < most_log_bytes) {
    const ssize_t count = read(file, record.data(), record.size());
    if (count == 0) break;
    if (count > 0) log.append(record.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno == EAGAIN) break;  // nothing more for now
    // EPIPE: a record was overwritten before it was read; the next one is there.
    if (count < 0 && errno != EPIPE && errno != EINTR) error = errno;
  }
  close(file);
  if (error != 0) {
    refused.unreadable =
        fmt::format("{} cannot be read: {}", path, std::generic_category().message(error));
    return refused;
  }
  if (log.empty()) {
    refused.unreadable = path + " is empty";
    return refused;
  }
  return find_xids(log, pci_bus_id);
}

}  // namespace sonde::cuda
