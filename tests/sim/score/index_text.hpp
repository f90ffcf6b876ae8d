// Index functions as text, compared as what they are: ways to part addresses into sets.
#pragma once

#include "sim/score/declared_structure.hpp"

#include <string>

namespace sonde::test {

/// Whether the function that `text` describes (sonde::describe of an index function) parts the
/// lines below `span_bytes` into the same sets as the declared one, whatever the sets are called.
/// @throws Error if the text is none of those that describe() writes
bool parts_alike(const DeclaredIndex& declared, const std::string& text, std::uint64_t span_bytes);

}  // namespace sonde::test
