// The line of a cache as chases show it.
#pragma once

#include <cstdint>

namespace sonde {

struct LineLength {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
};

}  // namespace sonde
