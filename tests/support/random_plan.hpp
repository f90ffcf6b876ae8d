// What the sections of a random GPU have to agree on, and who draws them. Used by random_gpu.cpp.
#pragma once

#include "support/floor_draws.hpp"
#include "support/random_geometry.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::test {

/// Where the home of a line comes from in an L2 of two partitions.
enum class Homes { by_line, by_page };

/// From one number to the other, both included.
struct Span {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

/// Cycles of loads that need no translation, and what each further TLB adds.
struct CycleSpans {
  Span l1;
  Span l2;
  Span far_more;  // what the other partition adds
  Span dram_more;
  Span tlb;
};

struct Plan {
  // Of draw_plan.
  Placing placing = Placing::known;
  bool has_l1 = true;
  bool has_readonly = true;  // a cache of its own
  bool has_l2 = true;
  bool has_halves = false;  // an L2 of two partitions
  bool has_copies = false;  // each keeps copies of the other's lines
  bool has_carveouts = false;
  Homes homes = Homes::by_line;
  Span texture_cycles{20, 60};       // of the first cache of textures
  std::optional<CycleSpans> cycles;  // none: those of odd GPUs
  // Of draw_data_caches.
  std::uint64_t l2_part_bytes = 0;  // all of it, or each half
  std::uint64_t l2_line_bytes = 0;
  nlohmann::json l2_index;
  nlohmann::json slices = {};  // the section of that name; null: none
  std::vector<std::uint64_t> carveouts_bytes;
  // Of draw_pages.
  std::uint64_t page_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t window_bytes = 0;  // 0: none
  std::vector<std::string> tlbs;   // of all paths but those of textures, innermost first
  std::vector<std::string> texture_tlbs;
  // Of draw_side_caches: names, innermost first, those of textures before the L2.
  std::vector<std::string> texture;
  std::vector<std::string> constant;
  std::vector<std::string> code;

  std::uint64_t l2_bytes() const { return (has_halves ? 2 : 1) * l2_part_bytes; }
};

/// First caches of plain and read-only loads, as far as the plan has them, and the L2.
nlohmann::json draw_data_caches(std::uint64_t seed, Plan& plan);

/// Caches of textures, constants and code alone.
nlohmann::json draw_side_caches(std::uint64_t seed, Plan& plan);

/// One to three TLB levels, pages, memory and window; TLBs of textures.
nlohmann::json draw_pages(std::uint64_t seed, Plan& plan);

/// @param caches all of them
nlohmann::json draw_paths(std::uint64_t seed, const Plan& plan, const nlohmann::json& caches);

/// What of a GPU is drawn already, and what the rest is drawn from.
struct DrawnParts {
  nlohmann::json caches;
  nlohmann::json pages;
  Floor chip;
};

/// The whole model: what the parts do not have is drawn, or as of a GTX 980.
nlohmann::json assemble(std::uint64_t seed, Draws& rest, const Plan& plan, DrawnParts parts);

}  // namespace sonde::test
