#include "base/log.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace sonde {
namespace {

struct Speaker {
  std::string prefix = "sonde: ";
  int rank = 0;
};

Speaker& speaker() {
  static Speaker only;
  return only;
}

void print_line(const std::string& prefix, std::string_view text) {
  if (text.empty()) return;
  // visible_line first, so that bytes that are not UTF-8 are shown and not replaced.
  const std::string line =
      fmt::format("{}{}\n", escape_terminal(prefix), escape_terminal(visible_line(text)));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

void set_log_speaker(const std::string& host, int rank, int ranks) {
  speaker().rank = rank;
  if (ranks > 1) speaker().prefix = fmt::format("sonde: [{} rank {}] ", host, rank);
}

void log_world(std::string_view text) {
  if (speaker().rank == 0) print_line("sonde: ", text);
}

void log_local(std::string_view text) { print_line(speaker().prefix, text); }

}  // namespace sonde
