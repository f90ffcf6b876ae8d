// Draws of the caches of a random GPU: those of loads, and those of textures, constants and code.
#include "base/units.hpp"
#include "support/random_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

namespace sonde::test {
namespace {

using nlohmann::json;

/// Line, sectors and fetch: up to 16 sectors of at least 32 bytes, of which a miss brings any power
/// of two.
json draw_line(Draws& draws, std::uint64_t line_bytes) {
  const auto part = [&](std::uint64_t whole_bytes, std::uint64_t least_bytes) {
    return whole_bytes / std::bit_floor(draws.between(1, whole_bytes / least_bytes));
  };
  const std::uint64_t sector_bytes = draws.chance(0.5) ? line_bytes : part(line_bytes, 32);
  const std::uint64_t fetch_bytes =
      draws.chance(0.7) ? sector_bytes : part(line_bytes, sector_bytes);
  return {{"line_bytes", line_bytes},
          {"sector_bytes", sector_bytes},
          {"fetch_bytes", fetch_bytes},
          {"write_policy",
           {{"hit", draws.pick({"update", "update", "invalidate"})},
            {"miss", draws.pick({"no_allocate", "no_allocate", "allocate"})}}},
          {"jitter_cycles", draws.real(0, 2)}};
}

/// Beside each shared part the same sets and what is left of the array as ways.
json draw_carveouts(Draws& draws, Plan& plan, std::uint64_t line_bytes) {
  const std::uint64_t array_bytes = draws.pick({64_KiB, 128_KiB, 256_KiB});
  plan.carveouts_bytes = {16_KiB, 48_KiB};
  if (draws.chance(0.5)) plan.carveouts_bytes = {8_KiB, 16_KiB, 32_KiB};
  const std::uint64_t least_lines = (array_bytes - plan.carveouts_bytes.back()) / line_bytes;
  const auto bits = static_cast<int>(
      draws.between(0, std::min<std::uint64_t>(7, std::bit_width(least_lines) - 1)));
  json parts = json::array();
  json replacement;
  for (std::uint64_t shared_bytes : plan.carveouts_bytes) {
    const std::uint64_t lines = (array_bytes - shared_bytes) / line_bytes;
    const DrawnSets sets{
        std::vector<std::uint32_t>(std::size_t{1} << bits,
                                   static_cast<std::uint32_t>(lines >> bits)),
        {{"kind", "bit_field"}, {"low_bit", std::countr_zero(line_bytes)}, {"bits", bits}}};
    if (replacement.is_null()) replacement = draw_replacement(draws, sets);
    json part = sets.to_json();
    part.update(replacement);
    part["shared_kib"] = shared_bytes / 1_KiB;
    if (replacement.contains("way_weights")) {
      part.erase("way_weights");
      part["replacement"] = "random";
    }
    parts.push_back(part);
  }
  return parts;
}

json draw_first_level(Draws& draws, Plan& plan, const char* name, bool carveouts) {
  const std::uint64_t line_bytes = draws.pick({32, 64, 128, 128, 256});
  json cache = draw_line(draws, line_bytes);
  cache["name"] = name;
  cache["scope"] = draws.chance(0.85) ? "sm" : "tpc";
  const bool is_virtual = draws.chance(0.7);
  cache["addressing"] = is_virtual ? "virtual" : "physical";
  if (carveouts) {
    cache["by_carveout"] = draw_carveouts(draws, plan, line_bytes);
    return cache;
  }
  const DrawnSets sets =
      draw_first_level_sets(draws, line_bytes, is_virtual ? Placing::known : plan.placing);
  cache.update(sets.to_json());
  cache.update(draw_replacement(draws, sets));
  return cache;
}

json draw_second_level(Draws& draws, Plan& plan) {
  const std::uint64_t line_bytes = draws.pick({32, 64, 128, 128, 256, 512});
  json cache = draw_line(draws, line_bytes);
  // Remainders and parities do not go together: a half would get more of some sets than of others.
  const Placing placing = plan.has_halves ? Placing::by_blocks : plan.placing;
  const bool is_sliced = !plan.has_halves && draws.chance(0.15);
  const DrawnSets sets = is_sliced ? draw_sliced_sets(draws, line_bytes)
                                   : draw_second_level_sets(draws, line_bytes, placing);
  plan.l2_part_bytes = sets.lines() * line_bytes;
  plan.l2_line_bytes = line_bytes;
  plan.l2_index = sets.index;
  plan.slices = sets.slices;
  cache.update(sets.to_json());
  cache.update(draw_replacement(draws, sets));
  cache["name"] = "l2";
  cache["scope"] = plan.has_halves ? "partition" : "device";
  cache["addressing"] = "physical";
  cache["sm_spread_cycles"] = draws.between(0, 8);
  if (!plan.has_halves && draws.chance(0.2)) {
    cache["prefetch"] = {{"bytes", draws.log_between(64_KiB, plan.l2_part_bytes / 2) / 128 * 128},
                         {"stride_limit_bytes", 16_KiB}};
  }
  return cache;
}

/// What a cache of its own kind is drawn from.
struct CacheRange {
  std::string name;
  std::string scope;
  bool is_virtual = true;
  std::uint64_t line_bytes = 0;
  Span bytes;
};

json draw_cache(Draws& draws, const CacheRange& range, Placing placing) {
  json cache = draw_line(draws, range.line_bytes);
  const DrawnSets sets =
      draw_sized_sets(draws, range.line_bytes, range.bytes.least, range.bytes.most, placing);
  cache.update(sets.to_json());
  cache.update(draw_replacement(draws, sets));
  cache["name"] = range.name;
  cache["scope"] = range.scope;
  cache["addressing"] = range.is_virtual ? "virtual" : "physical";
  return cache;
}

std::uint64_t lines_of(const json& geometry) {
  if (geometry.contains("sets")) {
    return geometry["sets"].get<std::uint64_t>() * geometry["ways"].get<std::uint64_t>();
  }
  std::uint64_t lines = 0;
  for (const json& run : geometry["ways_per_set"]) lines += lines_of(run);
  return lines;
}

/// The largest of them, at the smallest carve-out.
std::uint64_t largest_bytes(const json& caches) {
  std::uint64_t largest = 0;
  for (const json& cache : caches) {
    const json& geometry = cache.contains("by_carveout") ? cache["by_carveout"].front() : cache;
    largest = std::max(largest, lines_of(geometry) * cache["line_bytes"].get<std::uint64_t>());
  }
  return largest;
}

/// Scopes from inner levels to outer ones, each at least as wide as the one before.
class Scopes {
 public:
  explicit Scopes(Draws& draws) : draws_(draws), at_(draws.chance(0.85) ? 0 : 1) {}
  std::string next() {
    static constexpr std::array names{"sm", "tpc", "gpc", "device"};
    const char* scope = names[at_];
    at_ = draws_.between(at_, names.size() - 1);
    return scope;
  }

 private:
  Draws& draws_;
  std::size_t at_;
};

void draw_textures(Draws& draws, Plan& plan, json& caches) {
  const bool has_first = plan.has_l1 || plan.has_readonly;
  const bool is_shared = has_first && draws.chance(0.4);
  if (is_shared) {
    plan.texture = {plan.has_readonly ? "readonly" : "l1"};
    return;
  }
  if (draws.chance(0.25)) return;
  Scopes scopes(draws);
  const std::uint64_t line_bytes = draws.pick({32, 64, 128, 256});
  caches.push_back(draw_cache(
      draws, {"texture_1", scopes.next(), true, line_bytes, {4_KiB, 48_KiB}}, Placing::known));
  plan.texture = {"texture_1"};
  const std::uint64_t least_bytes = 4 * largest_bytes(json::array({caches.back()}));
  const std::uint64_t most_bytes = std::min(512_KiB, plan.l2_part_bytes / 2);
  if (least_bytes >= most_bytes || draws.chance(0.5)) return;
  const bool is_virtual = draws.chance(0.7);
  caches.push_back(draw_cache(
      draws, {"texture_2", scopes.next(), is_virtual, 2 * line_bytes, {least_bytes, most_bytes}},
      is_virtual ? Placing::known : plan.placing));
  plan.texture.push_back("texture_2");
}

/// Levels of growing size, each far larger than the one before.
constexpr std::array<Span, 3> constant_levels{{{1_KiB, 4_KiB}, {8_KiB, 24_KiB}, {48_KiB, 128_KiB}}};
constexpr std::array<Span, 4> code_levels{
    {{4_KiB, 16_KiB}, {24_KiB, 56_KiB}, {96_KiB, 144_KiB}, {224_KiB, 384_KiB}}};

/// @return the names, innermost first
std::vector<std::string> draw_levels(Draws& draws, const char* kind, std::span<const Span> sizes,
                                     std::uint64_t line_bytes, json& caches) {
  Scopes scopes(draws);
  std::vector<std::string> names;
  for (std::size_t level = 0; level < sizes.size(); ++level) {
    names.push_back(fmt::format("{}_{}", kind, level + 1));
    caches.push_back(draw_cache(
        draws, {names.back(), scopes.next(), true, line_bytes, sizes[level]}, Placing::known));
    if (draws.chance(0.5)) line_bytes = std::min<std::uint64_t>(256, 2 * line_bytes);
  }
  return names;
}

}  // namespace

json draw_data_caches(std::uint64_t seed, Plan& plan) {
  Draws first_level(seed, "first level");
  json caches = json::array();
  if (plan.has_l1) {
    caches.push_back(draw_first_level(first_level, plan, "l1", plan.has_carveouts));
  }
  if (plan.has_readonly) caches.push_back(draw_first_level(first_level, plan, "readonly", false));
  Draws second_level(seed, "second level");
  caches.push_back(draw_second_level(second_level, plan));
  return caches;
}

json draw_side_caches(std::uint64_t seed, Plan& plan) {
  json caches = json::array();
  Draws textures(seed, "textures");
  draw_textures(textures, plan, caches);
  Draws banks(seed, "constants and code");
  const std::size_t code_count = banks.between(0, code_levels.size());
  plan.code = draw_levels(banks, "code", std::span(code_levels).first(code_count),
                          banks.pick({32, 64, 64, 128}), caches);
  const std::size_t constant_count = banks.between(0, constant_levels.size());
  // As on the GPUs of Wong 2010: outer caches of code hold constants, too.
  const bool is_shared = code_count > 1 && constant_count > 1 && banks.chance(0.4);
  plan.constant = draw_levels(banks, "constant",
                              std::span(constant_levels).first(is_shared ? 1 : constant_count),
                              banks.pick({32, 64, 64}), caches);
  const std::size_t end = std::min(plan.code.size(), constant_levels.size());
  for (std::size_t level = 1; is_shared && level < end; ++level) {
    plan.constant.push_back(plan.code[level]);
  }
  return caches;
}

}  // namespace sonde::test
