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

/// What is seen of one set and all other entries of a buffer, and told.
IndexFunction function_from(std::uint64_t buffer_address) {
  std::vector<PlacedLine> lines;
  for (std::uint64_t offset = 0; offset < span_bytes; offset += entry_bytes) {
    const bool is_same = set_of_address(buffer_address + offset) == set_of_address(buffer_address);
    lines.push_back({.offset_bytes = offset, .set = is_same ? 0 : other_set});
  }
  const IndexFunction index = fit_index_function(lines, entry_bytes, buffer_address);
  return within_span(
      index,
      {.line_bytes = entry_bytes, .span_bytes = span_bytes, .buffer_address = buffer_address});
}

/// Buffers that H200s gave, and one at a multiple of its span.
TEST(WithinSpanTest, a_function_is_the_same_wherever_the_buffer_begins) {
  for (const std::uint64_t address :
       {0x7f0000000000, 0x7f0e40000000, 0x7fa1d0000000, 0x7fd5c0000000}) {
    const IndexFunction index = function_from(address);
    EXPECT_EQ(describe(index), "bits 29-32, 25^33, 26^34, 27^35, 28^36")
        << std::hex << address << ": " << index.reason;
  }
}

/// Another that an H200 gave: a multiple of 64 GiB and 1 GiB.
TEST(WithinSpanTest, bits_that_vary_together_are_not_told_apart) {
  const IndexFunction index = function_from(0x7f1040000000);
  EXPECT_EQ(index.kind, IndexKind::unresolved) << describe(index);
  EXPECT_THAT(index.reason, testing::HasSubstr("bit 36 of the address varies along with higher"));
}

}  // namespace
}  // namespace sonde
