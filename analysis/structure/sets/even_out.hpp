// Sets of a TLB that were seen with a way less than all others.
#pragma once

#include "analysis/structure/sets/set_layout.hpp"

namespace sonde {

/// One or two sets of very many (64 or more) that keep a way less than all others are taken to be
/// like them, and counted in `smaller_sets`: docs/decisions/0024-a-way-less.md. For TLBs.
void even_out(SetLayout& layout);

}  // namespace sonde
