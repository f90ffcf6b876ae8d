// Curves of toy caches, played access by access: textbook ones, and those that break the classical
// methods' assumptions.
#include "analysis/structure/capacity/classical.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

namespace sonde {
namespace {

using testing::HasSubstr;

enum class Victim { oldest, random };

/// Hits take 40 cycles, misses 240.
struct ToyCache {
  std::uint64_t line_bytes = 128;
  std::size_t ways = 4;
  std::function<std::uint64_t(std::uint64_t)> set_of;  // from the address
  Victim victim = Victim::oldest;

  double mean_cycles(std::uint64_t footprint_bytes, std::uint64_t stride_bytes) const {
    std::uint64_t draw = 1;
    std::map<std::uint64_t, std::vector<std::uint64_t>> sets;  // most recent last
    std::uint64_t loads = 0;
    std::uint64_t misses = 0;
    for (int pass = 0; pass < 8; ++pass) {
      for (std::uint64_t at = 0; at < footprint_bytes; at += stride_bytes) {
        std::vector<std::uint64_t>& set = sets[set_of(at)];
        const std::uint64_t line = at / line_bytes;
        const auto found = std::ranges::find(set, line);
        if (pass >= 4) ++loads, misses += found == set.end();
        if (found != set.end()) {
          std::rotate(found, found + 1, set.end());
        } else if (set.size() < ways) {
          set.push_back(line);
        } else if (victim == Victim::oldest) {
          set.erase(set.begin());
          set.push_back(line);
        } else {
          draw = draw * 6364136223846793005 + 1442695040888963407;  // Knuth, MMIX
          set[(draw >> 33) % ways] = line;
        }
      }
    }
    return 40 + 200 * static_cast<double>(misses) / static_cast<double>(loads);
  }
};

constexpr std::uint64_t size_bytes = 16384;

SaavedraCurves chase_saavedra(const ToyCache& cache, std::uint64_t size = size_bytes) {
  SaavedraCurves curves;
  for (std::uint64_t stride = 8; stride <= size; stride *= 2) {
    curves.strides_bytes.push_back(static_cast<double>(stride));
  }
  for (std::uint64_t footprint = size / 2; footprint <= 4 * size; footprint *= 2) {
    curves.footprints_bytes.push_back(static_cast<double>(footprint));
    for (double stride : curves.strides_bytes) {
      curves.cycles.push_back(cache.mean_cycles(footprint, static_cast<std::uint64_t>(stride)));
    }
  }
  return curves;
}

WongCurve chase_wong(const ToyCache& cache, std::uint64_t reach, std::uint64_t size = size_bytes) {
  WongCurve curve;
  const auto add = [&](std::uint64_t footprint) {
    curve.footprints_bytes.push_back(static_cast<double>(footprint));
    curve.cycles.push_back(cache.mean_cycles(footprint, cache.line_bytes));
  };
  for (std::uint64_t footprint = size - reach; footprint <= size + reach + 8 * cache.line_bytes;
       footprint += cache.line_bytes) {
    add(footprint);
  }
  add(2 * size);
  return curve;
}

ToyCache textbook_cache() {
  return {.set_of = [](std::uint64_t at) { return at / 128 % 32; }};
}

/// Each block of 4096 bytes has a line in every set, in another order.
ToyCache hashed_cache() {
  return {.set_of = [](std::uint64_t at) { return (at / 128 ^ at / 4096) % 32; }};
}

/// Mei and Chu 2016, figure 7: bits 7 and 8 choose among 4 sets of lines of 32 bytes.
ToyCache texture_cache() {
  return {.line_bytes = 32, .ways = 96, .set_of = [](std::uint64_t at) { return at / 128 % 4; }};
}

TEST(ClassicalTest, both_methods_find_the_ways_of_a_textbook_cache) {
  const ClassicalAnswer saavedra = conclude_saavedra(chase_saavedra(textbook_cache()), size_bytes);
  const ClassicalAnswer wong = conclude_wong(chase_wong(textbook_cache(), 4096));

  EXPECT_EQ(saavedra.ways, 4) << saavedra.reason;
  EXPECT_EQ(wong.ways, 4) << wong.reason;
  EXPECT_EQ(describe_contradiction(saavedra, wong, 4), "");
  EXPECT_EQ(describe_contradiction(saavedra, wong, std::nullopt), "");
}

TEST(ClassicalTest, hashed_sets_look_fully_associative_in_long_strides_only) {
  const ClassicalAnswer saavedra = conclude_saavedra(chase_saavedra(hashed_cache()), size_bytes);
  const ClassicalAnswer wong = conclude_wong(chase_wong(hashed_cache(), 4096));

  EXPECT_EQ(wong.ways, 4) << wong.reason;
  EXPECT_NE(saavedra.ways, 4);
  EXPECT_THAT(describe_contradiction(saavedra, wong, 4), HasSubstr("Wong (2010) 4 ways"));
}

TEST(ClassicalTest, sets_by_higher_bits_contradict_as_mei_and_chu_saw_it) {
  constexpr std::uint64_t texture_bytes = 12288;
  const ClassicalAnswer saavedra =
      conclude_saavedra(chase_saavedra(texture_cache(), texture_bytes), texture_bytes);
  const ClassicalAnswer wong = conclude_wong(chase_wong(texture_cache(), 512, texture_bytes));

  EXPECT_EQ(saavedra.ways, 384) << saavedra.reason;  // longer strides still reach all sets
  EXPECT_EQ(wong.ways, 24) << wong.reason;           // 4 stairs, 128 bytes apart
  EXPECT_THAT(describe_contradiction(saavedra, wong, 96),
              AllOf(HasSubstr("384 ways"), HasSubstr("24 ways"), HasSubstr("single lines")));
}

TEST(ClassicalTest, random_victims_have_no_stairs) {
  ToyCache cache = textbook_cache();
  cache.victim = Victim::random;

  const ClassicalAnswer wong = conclude_wong(chase_wong(cache, 4096));

  EXPECT_EQ(wong.ways, std::nullopt);
  EXPECT_NE(wong.reason, "");
  EXPECT_THAT(describe_contradiction({4, {}}, wong, 4), HasSubstr("Wong (2010) nothing"));
}

TEST(ClassicalTest, no_cache_has_no_answer) {
  SaavedraCurves flat = chase_saavedra(textbook_cache());
  std::ranges::fill(flat.cycles, 400);

  EXPECT_EQ(conclude_saavedra(flat, size_bytes).ways, std::nullopt);
  EXPECT_EQ(conclude_wong({{1024, 1152, 2048}, {400, 400, 400}}).ways, std::nullopt);
}

TEST(ClassicalTest, curves_that_climb_from_the_start_have_no_answer) {
  WongCurve curve = chase_wong(textbook_cache(), 4096);
  for (std::size_t i = 0; i < curve.cycles.size(); ++i) curve.cycles[i] += static_cast<double>(i);

  EXPECT_EQ(conclude_wong(curve).ways, std::nullopt);
}

TEST(ClassicalTest, a_known_number_contradicts_methods_that_agree) {
  EXPECT_THAT(describe_contradiction({8, {}}, {8, {}}, 6), HasSubstr("6 ways"));
}

}  // namespace
}  // namespace sonde
