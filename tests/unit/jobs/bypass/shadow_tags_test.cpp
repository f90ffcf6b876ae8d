// Shadow tags on programs whose hits can be counted by hand.
#include "jobs/bypass/shadow_tags.hpp"

#include "jobs/bypass/sweep.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;

constexpr TagGeometry l1{.line_bytes = 128, .sector_bytes = 32, .lines = 128, .ways = 4};

/// A block of 8 warps; each thread reads `passes` elements of a row of its own, or all the same.
ProgramProbe make_rows(std::uint32_t thread_step, std::uint32_t inner_step) {
  ProgramKernel kernel{.grid_x = 1, .block_x = 256, .inner = {.first = 64}};
  kernel.body = {{.array = 0, .per_thread_x = thread_step, .per_inner = inner_step}};
  ProgramProbe probe;
  probe.program = {.name = "rows",
                   .array_elements = {std::uint64_t{256} * thread_step + 64 * inner_step + 1},
                   .kernels = {kernel}};
  probe.cached = 8;
  probe.sm_accesses = 8 * 64;
  return probe;
}

TEST(ShadowTagsTest, words_of_a_sector_hit_after_the_first) {
  // A warp keeps 32 lines of its 32 rows: two warps' fit into 128 lines, and each load hits but for
  // one in eight, the words of a sector.
  const std::vector<double> hits = estimate_hits(make_rows(32 * 5, 1), {0, 1, 2}, l1, 1);
  EXPECT_EQ(hits[0], 0);
  constexpr double all = 64 * 32 * 7 / 8.0;
  EXPECT_NEAR(hits[1], all, 0.35 * all) << "an eighth of the sets is looked at";
  EXPECT_GT(hits[2], 1.4 * hits[1]);
}

TEST(ShadowTagsTest, too_many_warps_throw_out_each_others_lines) {
  const std::vector<double> hits = estimate_hits(make_rows(32 * 5, 1), {2, 8}, l1, 1);
  EXPECT_LT(hits[1], 0.7 * hits[0]);
}

TEST(ShadowTagsTest, a_smaller_cache_hits_less) {
  TagGeometry larger = l1;
  larger.lines = 512;
  const ProgramProbe probe = make_rows(32 * 5, 1);
  EXPECT_GT(estimate_hits(probe, {8}, larger, 1)[0], 2 * estimate_hits(probe, {8}, l1, 1)[0]);
}

TEST(ShadowTagsTest, stores_and_new_lines_do_not_hit) {
  const std::vector<double> hits = estimate_hits(make_rows(1, 256), {8}, l1, 1);
  EXPECT_EQ(hits[0], 0) << "every pass reads lines of its own";
}

TEST(ShadowTagsTest, numbers_are_spread_over_all_units) {
  EXPECT_THAT(cached_numbers(2), ElementsAre(0, 1, 2));
  EXPECT_THAT(cached_numbers(8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(cached_numbers(12), ElementsAre(0, 1, 3, 4, 6, 7, 9, 10, 12));
  EXPECT_THAT(cached_numbers(32), ElementsAre(0, 4, 8, 12, 16, 20, 24, 28, 32));
}

}  // namespace
}  // namespace sonde
