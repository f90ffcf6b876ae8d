// Reads the log of the Linux kernel, and finds the lines of the driver that name a GPU.
#include "device/cuda/session/xids.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <utility>

namespace sonde::cuda {
namespace {

constexpr std::size_t record_bytes = 8192;        // of the longest record
constexpr std::size_t most_log_bytes = 64 << 20;  // far more than any log buffer

/// Domain, bus and device in hexadecimal digits, as the first three parts of the match.
using PciPlace = std::array<unsigned long, 3>;
PciPlace place_of(const std::cmatch& found) {
  PciPlace place{};
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = std::stoul(found[i + 1], nullptr, 16);
  return place;
}

/// Matches at the beginning of the text.
bool match_start(std::string_view text, const std::regex& pattern, std::cmatch& found) {
  return std::regex_search(text.data(), text.data() + text.size(), found, pattern,
                           std::regex_constants::match_continuous);
}

/// The code in a line such as "NVRM: Xid (PCI:0000:18:00): 79, ...", if it is of that GPU.
std::optional<int> xid_of(std::string_view line, const PciPlace& gpu) {
  constexpr std::string_view mark = "NVRM: Xid (PCI:";
  static const std::regex behind(
      "([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,8})\\): ([0-9]{1,6})(?![0-9])",
      std::regex::icase);
  const std::size_t at = line.find(mark);
  std::cmatch found;
  if (at == std::string_view::npos || !match_start(line.substr(at + mark.size()), behind, found) ||
      place_of(found) != gpu) {
    return std::nullopt;
  }
  return std::stoi(found[4]);
}

/// When a record was written: its third number, in microseconds.
std::optional<double> seconds_of(std::string_view line) {
  static const std::regex head("[0-9]+,[0-9]+,([0-9]{1,18})");
  std::cmatch found;
  if (!match_start(line.substr(0, 80), head, found)) return std::nullopt;
  return std::stod(found[1]) * 1e-6;
}

}  // namespace

XidLog find_xids(std::string_view log, std::string_view pci_bus_id) {
  XidLog found;
  static const std::regex place("([0-9a-f]{1,8}):([0-9a-f]{1,8}):([0-9a-f]{1,8})",
                                std::regex::icase);
  std::cmatch gpu;
  if (!match_start(pci_bus_id, place, gpu)) {
    found.unreadable = "the driver does not report where on the bus the GPU is";
    return found;
  }
  bool first = true;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (const auto seconds = seconds_of(line); seconds && std::exchange(first, false)) {
      found.begins_after_s = *seconds;
    }
    if (const auto code = xid_of(line, place_of(gpu))) found.codes.push_back(*code);
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
