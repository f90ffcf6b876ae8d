// What a person may have meant who mistyped a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// The known word with the fewest letters changed, put in, left out or swapped with their
/// neighbour; "" if that is more than a third of the word, or more than 2.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace sonde
