// How many of so many drawn chips get their GPCs and TPCs exactly, and how many wrongly. Ends with
// 1 if fewer than 99 % of the GPC maps are exact, or if any map is wrong.
#include "sim/score/floor_map_score.hpp"
#include "support/random_floor_map.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>

int main(int argc, char** argv) {
  using sonde::test::MapScore;
  CLI::App app{"Scores the job topology on drawn chips"};
  std::uint64_t maps = 200;
  std::uint64_t first_seed = 1;
  app.add_option("--maps", maps, "how many chips are drawn")->capture_default_str();
  app.add_option("--first-seed", first_seed, "seed of the first one")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::array<std::size_t, 5> gpcs{};
  std::array<std::size_t, 5> tpcs{};
  for (std::uint64_t seed = first_seed; seed < first_seed + maps; ++seed) {
    const sonde::test::FloorMapScore score =
        sonde::test::score_floor_map(sonde::test::draw_floor_map(seed), seed);
    ++gpcs[static_cast<std::size_t>(score.gpcs)];
    ++tpcs[static_cast<std::size_t>(score.tpcs)];
    if (score.gpcs != MapScore::exact || score.tpcs > MapScore::none) {
      fmt::print("not exact: {}\n", score.text);
    }
  }
  const auto print = [](const char* unit, const std::array<std::size_t, 5>& counts) {
    fmt::print("{}: {} exact, {} in part, {} without a map, {} doubted, {} wrong\n", unit,
               counts[0], counts[1], counts[2], counts[3], counts[4]);
  };
  print("GPCs", gpcs);
  print("TPCs", tpcs);
  const bool exact = 100 * gpcs[0] >= 99 * maps;
  return exact && gpcs[4] == 0 && tpcs[4] == 0 ? 0 : 1;
}
