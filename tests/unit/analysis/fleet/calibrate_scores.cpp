// Prints the rows of the table in analysis/fleet/tolerance.cpp: `calibrate_scores [groups]
// [seed]`.
#include "unit/analysis/fleet/simulate_calibration.hpp"

#include <fmt/format.h>

#include <cstdlib>

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t groups = argument(1, 200000);
  const std::uint64_t seed = argument(2, 1);
  for (const std::size_t n :
       {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 48, 64, 128, 256, 1024}) {
    const sonde::Calibration row = sonde::simulate_calibration(n, groups, seed);
    fmt::print("    Calibration{{{}, {:.2f}, {:.2f}}},\n", row.n, row.cut_1_percent,
               row.cut_01_percent);
  }
}
