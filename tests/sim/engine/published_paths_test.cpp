// Texture, constant and instruction caches of the shipped models give back what was published.
#include "engine_support.hpp"

#include "base/units.hpp"

#include <gmock/gmock.h>

namespace sonde::sim {
namespace {

using testing::Each;
using testing::ElementsAre;

/// A warm pass of one SM over code, block by block.
std::vector<std::uint32_t> execute(std::string_view name, std::uint64_t blocks,
                                   std::uint64_t stride_bytes = code_block_bytes) {
  return chase_latencies(name, steps(blocks, stride_bytes), 8, LoadPath::instruction);
}

TEST(PublishedPathsTest, gtx280_texture_caches_are_those_of_wong) {
  const auto missed_l1 = [](std::uint64_t bytes) {
    return missed("gtx280", bytes / 32, 32, 300, LoadPath::texture_1d);
  };
  EXPECT_EQ(missed_l1(5_KiB), 0u);
  EXPECT_EQ(missed_l1(5_KiB + 32), 21u) << "one set of 20 ways, a way of 256 bytes";
  EXPECT_EQ(missed_l1(5_KiB + 256), 8 * 21u);
  const auto missed_l2 = [](std::uint64_t bytes) {
    return missed("gtx280", bytes / 256, 256, 490, LoadPath::texture_1d);
  };
  EXPECT_EQ(missed_l2(256_KiB), 0u);
  EXPECT_EQ(missed_l2(256_KiB + 256), 9u) << "one set of 8 ways, lines of 256 bytes";
  EXPECT_EQ(missed_l2(288_KiB), 9 * 128u) << "a way of 32 KiB";
}

TEST(PublishedPathsTest, gtx280_texture_latencies_are_those_of_wong) {
  // The clock reads even numbers, and the TPCs lie up to 4 cycles apart.
  for (std::uint32_t cycles : chase_latencies("gtx280", {0}, 1, LoadPath::texture_1d)) {
    EXPECT_NEAR(cycles, 261, 1);
  }
  // Lines 256 or 512 KiB apart fall into one set of both caches; more than 20 overrun it.
  const auto apart = [](std::uint64_t count, std::uint64_t stride) {
    return chase_latencies("gtx280", steps(count, stride), 4, LoadPath::texture_1d);
  };
  const auto about = [](std::uint32_t cycles) {
    return Each(testing::AllOf(testing::Ge(cycles - 4), testing::Le(cycles + 4)));
  };
  EXPECT_THAT(apart(32, 256_KiB), about(499)) << "8 MiB";
  EXPECT_THAT(apart(24, 512_KiB), about(544)) << "12 MiB";
  EXPECT_THAT(apart(32, 512_KiB), about(544)) << "16 MiB";
  EXPECT_THAT(apart(36, 512_KiB), about(753)) << "18 MiB";
}

TEST(PublishedPathsTest, gtx280_constants_take_8_81_220_and_476_cycles) {
  const auto near = [](std::uint64_t bytes, std::uint64_t stride, double cycles, double spread) {
    for (std::uint32_t value :
         chase_latencies("gtx280", steps(bytes / stride, stride), 4, LoadPath::constant)) {
      ASSERT_NEAR(value, cycles, spread) << bytes;
    }
  };
  near(2_KiB, 64, 8, 0);
  near(8_KiB, 256, 81, 1);
  near(32_KiB, 256, 220, 3);
  near(64_KiB, 256, 476, 3);
}

TEST(PublishedPathsTest, gtx280_constant_caches_belong_to_sm_tpc_and_device) {
  const auto model = quiet_json("gtx280");
  const auto device = open_sim(model);
  // Two SMs chase through one half each; if they share the cache, it holds only both halves
  // together.
  const auto missed_beside = [&](int other, std::uint64_t bytes, std::uint64_t line,
                                 std::uint32_t least) {
    ChaseProbe probe = chase(steps(bytes / line, line), 800, bytes / line, LoadPath::constant);
    probe.buffer_bytes = 2 * bytes;
    probe.lanes.push_back({.sm = other, .offsets_bytes = {}, .path = LoadPath::constant});
    for (std::uint64_t offset : probe.lanes[0].offsets_bytes) {
      probe.lanes[1].offsets_bytes.push_back(offset + bytes);
    }
    return count_at_least(latencies(device->run(probe), model), least);
  };
  EXPECT_EQ(missed_beside(1, 2_KiB, 64, 70), 0u) << "first level: an SM's own";
  EXPECT_EQ(missed_beside(3, 8_KiB, 256, 200), 0u) << "second level: not of another TPC";
  EXPECT_EQ(missed_beside(1, 8_KiB, 256, 200), 32u) << "second level: of the TPC";
  EXPECT_EQ(missed_beside(1, 4_KiB, 256, 200), 0u);
  EXPECT_EQ(missed_beside(3, 32_KiB, 256, 400), 128u) << "third level: of all";
  EXPECT_EQ(missed_beside(3, 16_KiB, 256, 400), 0u);
}

TEST(PublishedPathsTest, gtx280_code_goes_through_its_own_l1_and_the_constant_levels) {
  EXPECT_EQ(count_at_least(execute("gtx280", 4_KiB / 128), 100), 0u);
  EXPECT_EQ(count_at_least(execute("gtx280", 4_KiB / 256 + 1, 256), 100), 5u)
      << "4 sets of 4 lines of 256 bytes";
  EXPECT_EQ(count_at_least(execute("gtx280", 8_KiB / 128), 200), 0u);
  EXPECT_EQ(count_at_least(execute("gtx280", 32_KiB / 256, 256), 400), 0u);
  EXPECT_EQ(count_at_least(execute("gtx280", 32_KiB / 256 + 1, 256), 400), 9u);
  const Model model = load_model("gtx280");
  const auto caches_of = [&](LoadPath path) {
    return model.paths[static_cast<std::size_t>(path)]->caches;
  };
  const auto constants = caches_of(LoadPath::constant);
  const auto code = caches_of(LoadPath::instruction);
  EXPECT_NE(code[0], constants[0]);
  EXPECT_EQ(code[1], constants[1]);
  EXPECT_EQ(code[2], constants[2]);
}

TEST(PublishedPathsTest, fermi_and_kepler_textures_take_sets_from_bits_7_and_8) {
  for (const char* name : {"gtx560ti", "c2070", "gtx780"}) {
    const std::uint32_t behind = std::string(name) == "gtx780" ? 220 : 470;
    EXPECT_EQ(missed(name, 384, 32, behind, LoadPath::texture_1d), 0u) << name;
    EXPECT_EQ(missed(name, 385, 32, behind, LoadPath::texture_1d), 97u) << name;
    EXPECT_EQ(missed(name, 388, 32, behind, LoadPath::texture_1d), 100u) << name;
    EXPECT_EQ(missed(name, 97, 512, behind, LoadPath::texture_1d), 97u) << name;
    // 96 lines of one set, 512 bytes apart, and one of each of the other bits.
    std::vector<std::uint64_t> offsets = steps(96, 512);
    for (std::uint64_t other : {128u, 256u, 384u}) offsets.push_back(other);
    EXPECT_EQ(count_at_least(chase_latencies(name, offsets, 8, LoadPath::texture_1d), behind), 0u)
        << name;
  }
}

TEST(PublishedPathsTest, gtx780_read_only_sets_are_no_bit_field_but_hold_128_bytes_in_a_row) {
  const auto lost = [](const std::vector<std::uint64_t>& offsets) {
    return count_at_least(chase_latencies("gtx780", offsets, 8, LoadPath::read_only), 220);
  };
  EXPECT_EQ(missed("gtx780", 388, 32, 220, LoadPath::read_only), 100u);
  // Bits 7 and 8 alone do not name the set: 97 lines 512 bytes apart spread over others.
  EXPECT_EQ(lost(steps(97, 512)), 0u);
  EXPECT_GT(lost(steps(4 * 97, 512)), 0u);
}

TEST(PublishedPathsTest, h200_constants_and_code_have_their_levels) {
  EXPECT_EQ(missed("h200", 32, 64, 100, LoadPath::constant), 0u) << "2 KiB";
  EXPECT_EQ(missed("h200", 33, 64, 100, LoadPath::constant), 5u);
  EXPECT_EQ(missed("h200", 256, 256, 300, LoadPath::constant), 0u) << "the whole bank of 64 KiB";
  EXPECT_EQ(count_at_least(execute("h200", 188), 188), 0u) << "23.5 KiB";
  EXPECT_EQ(count_at_least(execute("h200", 189), 188), 48u);
  EXPECT_EQ(count_at_least(execute("h200", 896), 300), 0u) << "112 KiB";
  EXPECT_EQ(count_at_least(execute("h200", 897), 300), 15u) << "one set of 14 ways";
}

TEST(PublishedPathsTest, h200_textures_share_the_l1) {
  EXPECT_THAT(chase_latencies("h200", steps(1000, 128), 3, LoadPath::texture_1d), Each(88u));
}

}  // namespace
}  // namespace sonde::sim
