// How well the job topology finds the map of a drawn chip: for its test and for the score of 200.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

enum class MapScore {
  exact,    // each SM in its group
  partial,  // some SMs without a group, the others right
  none,     // no map, with a reason
  doubted,  // wrong, and the confidence says so (below 0.5)
  wrong
};

struct FloorMapScore {
  MapScore gpcs = MapScore::none;
  MapScore tpcs = MapScore::none;
  bool counts_are_right = true;  // of TPCs and GPCs, where they are given
  std::string text;              // the chip, and what was found
};

/// Runs the jobs clock and topology on a GPU of this model file, on the die that `seed` draws.
FloorMapScore score_floor_map(const std::string& model_text, std::uint64_t seed);

}  // namespace sonde::test
