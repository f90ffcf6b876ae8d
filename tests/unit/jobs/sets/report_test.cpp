// What is told of an index function whose buffer does not begin where its highest bits do.
#include "jobs/sets/report.hpp"

#include "analysis/structure/index/index_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {
namespace {

constexpr std::uint64_t entry_bytes = 32ULL << 20;
constexpr std::uint64_t span_bytes = 128ULL << 30;

/// As the second TLB of an H200 chooses: 256 sets, each bit 25 to 32 with the one 8 further up.
std::uint64_t set_of_address(std::uint64_t address) {
  return ((address >> 25) ^ (address >> 33)) & 0xff;
}

/// What is seen of 16 sets, 256 lines, and of all other entries that a search of a buffer uses,
/// and told.
IndexFunction function_from(std::uint64_t buffer_address) {
  const LinePool pool{
      .line_bytes = entry_bytes, .span_bytes = span_bytes, .buffer_address = buffer_address};
  const SpanPart part = part_of_seen_bits(pool);
  std::vector<PlacedLine> lines;
  for (std::uint64_t offset = part.begin_bytes; offset < part.end_bytes; offset += entry_bytes) {
    const std::uint64_t set = set_of_address(buffer_address + offset);
    const bool is_seen = set % 16 == 5;  // of short ends, too
    lines.push_back(
        {.offset_bytes = offset, .set = is_seen ? static_cast<std::uint32_t>(set) : other_set});
  }
  return within_span(fit_index_function(lines, entry_bytes, buffer_address), pool);
}

/// Offsets in GiB.
void expect_part(std::uint64_t address, double begin_gib, double end_gib) {
  const SpanPart part = part_of_seen_bits(
      {.line_bytes = entry_bytes, .span_bytes = span_bytes, .buffer_address = address});
  constexpr double gib = 1ULL << 30;
  EXPECT_EQ(static_cast<double>(part.begin_bytes) / gib, begin_gib) << std::hex << address;
  EXPECT_EQ(static_cast<double>(part.end_bytes) / gib, end_gib) << std::hex << address;
}

TEST(PartOfSeenBitsTest, short_ends_beyond_multiples_of_half_a_span_are_left_out) {
  expect_part(0x7f1000000000, 0, 128);  // at an odd multiple of 64 GiB
  expect_part(0x7f1040000000, 0, 127);
  expect_part(0x7f0fc0000000, 1, 128);
  expect_part(0x7f10fe000000, 0, 128 - 127.0 / 32);
  expect_part(0x7f1100000000, 0, 128);  // a thirty-second is no short end
  expect_part(0x7f0f00000000, 0, 128);
  expect_part(0x7f01c0000000, 0, 121);  // 7 GiB behind an even one: beyond a multiple of the span
  expect_part(0x7efe40000000, 7, 128);
}

/// Buffers that H200s gave, and one at a multiple of its span.
TEST(WithinSpanTest, a_function_is_the_same_wherever_the_buffer_begins) {
  for (const std::uint64_t address : {0x7f0000000000, 0x7f0e40000000, 0x7fa1d0000000,
                                      0x7fd5c0000000, 0x7f1140000000, 0x7f0e80000000}) {
    const IndexFunction index = function_from(address);
    EXPECT_EQ(describe(index), "bits 29-32, 25^33, 26^34, 27^35, 28^36")
        << std::hex << address << ": " << index.reason;
  }
}

/// The first is one that an H200 gave, a multiple of 64 GiB and 1 GiB: bit 37 is bit 36 reversed in
/// all but the ends of these, which no search uses.
TEST(WithinSpanTest, bits_that_vary_together_are_not_told_apart) {
  for (const std::uint64_t address : {0x7f1040000000, 0x7f1000000000, 0x7f1002000000,
                                      0x7f0fc0000000, 0x7f0ffe000000, 0x7f10fe000000}) {
    const IndexFunction index = function_from(address);
    EXPECT_EQ(index.kind, IndexKind::unresolved) << std::hex << address << describe(index);
    EXPECT_THAT(index.reason, testing::HasSubstr("bit 36 of the address varies along with higher"));
  }
}

/// Of a function with bit 37 in the place of 36, and half of a buffer where they differ.
TEST(WithinSpanTest, a_function_of_a_bit_beyond_the_span_is_not_told_without_it) {
  IndexFunction seen;
  seen.kind = IndexKind::xor_masks;
  seen.masks = {1ULL << 28 | 1ULL << 37};
  seen.known_bits = (1ULL << 38) - (1ULL << 25);
  const IndexFunction index = within_span(
      seen,
      {.line_bytes = entry_bytes, .span_bytes = span_bytes, .buffer_address = 0x7f1800000000});
  EXPECT_EQ(index.kind, IndexKind::unresolved) << describe(index);
  EXPECT_THAT(index.reason, testing::HasSubstr("bit 36 of the address"));
}

}  // namespace
}  // namespace sonde
