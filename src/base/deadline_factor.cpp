#include "base/deadline_factor.hpp"

#include <cstdlib>

namespace sonde {

double deadline_factor() {
  static const double factor = [] {
    constexpr double most = 10000;
    const char* text = std::getenv("SONDE_DEADLINE_FACTOR");
    const double given = text ? std::strtod(text, nullptr) : 1;
    return given >= 1 && given <= most ? given : 1.0;
  }();
  return factor;
}

}  // namespace sonde
