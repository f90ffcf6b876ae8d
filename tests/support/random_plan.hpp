// What the sections of a random GPU have to agree on, and who draws them. Used by random_gpu.cpp.
#pragma once

#include "support/random_geometry.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::test {

/// Where the home of a line comes from in an L2 of two partitions.
enum class Homes { by_line, by_page };

struct Plan {
  // Of draw_plan.
  Placing placing = Placing::known;
  bool has_l1 = true;
  bool has_readonly = true;      // a cache of its own
  bool has_middle = false;       // a cache between the first one and the L2
  bool has_memory_side = false;  // a cache between the L2 and the memory
  bool has_halves = false;       // an L2 of partitions
  bool has_copies = false;       // each keeps copies of the other's lines
  bool has_carveouts = false;
  std::uint64_t partitions = 1;
  Homes homes = Homes::by_line;
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
  bool has_walk_cache = false;  // named "upper"
  // Of draw_side_caches: names, innermost first, those of textures before the L2.
  std::vector<std::string> texture;
  std::vector<std::string> constant;
  std::vector<std::string> code;

  std::uint64_t l2_bytes() const { return partitions * l2_part_bytes; }
};

/// First caches of plain and read-only loads, a middle one, the L2 and one on the side of the
/// memory, as far as the plan has them.
nlohmann::json draw_data_caches(std::uint64_t seed, Plan& plan);

/// Caches of textures, constants and code alone.
nlohmann::json draw_side_caches(std::uint64_t seed, Plan& plan);

/// One to three TLB levels, pages, memory and window; TLBs of textures.
nlohmann::json draw_pages(std::uint64_t seed, Plan& plan);

/// @param caches all of them
nlohmann::json draw_paths(std::uint64_t seed, const Plan& plan, const nlohmann::json& caches);

}  // namespace sonde::test
