// Do two ways of sorting the same items into classes agree, whatever the classes are called?
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

struct ClassMatch {
  double agreement = 0;       // share of items in matched classes
  std::uint32_t classes = 0;  // pairs of classes that match
};

/// Two classes match if each holds more of the other than of any third: what one side splits or
/// merges agrees at most in its largest part. @pre both vectors have the same size, not 0
ClassMatch match_classes(const std::vector<std::uint64_t>& left,
                         const std::vector<std::uint32_t>& right);

}  // namespace sonde
