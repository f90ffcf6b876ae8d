// How many lines, each of another page, stay in the L2 while their translations are measured.
#pragma once

#include "jobs/tlb/page_chase.hpp"

namespace sonde {

/// The largest part of `setup.kept_pages`, halved again and again, of which chases lose hardly a
/// line even where they are twice as many. Whatever size and policy the L2 has: chases with every
/// translation at hand are asked.
std::uint64_t pages_kept_by_l2(const PageChaseSetup& setup);

}  // namespace sonde
