// Is a finding right? Compared with what the model declares, up to what can differ at all.
#pragma once

#include "analysis/results.hpp"
#include "sim/score/declared_structure.hpp"

#include <string>

namespace sonde::test {

enum class Verdict {
  right,         // the value, or its absence where there is none
  unresolvable,  // an honest "not resolvable" of something that is there, or a wide interval
  wrong,
};

/// @param finding nullptr: there is none
Verdict judge(const DeclaredValue& declared, const Finding* finding);

/// One line for a reader.
std::string describe(const Declared& declared);
std::string describe(const Finding& finding);

}  // namespace sonde::test
