// What errors say.
#pragma once

#include <string>

namespace sonde::test {

/// @return the text of the E that the work throws, "nothing is wrong" if it throws none
template <class E, class Work>
std::string thrown(Work&& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing is wrong";
}

}  // namespace sonde::test
