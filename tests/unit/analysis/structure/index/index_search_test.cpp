// Index functions come back from labelled lines: every kind, many numbers of sets, wrong labels;
// and what follows none of them is not given a name.
#include "analysis/structure/index/index_search.hpp"
#include "analysis/structure/index/index_function.hpp"
#include "base/random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace sonde {
namespace {

using Index = std::function<std::uint64_t(std::uint64_t)>;

struct Survey {
  std::size_t lines = 0;
  std::uint64_t line_bytes = 128;
  int address_bits = 24;
  double wrong = 0;
  std::uint64_t seed = 1;
};

/// Random lines; sets under names that mean nothing.
std::vector<PlacedLine> place_lines(const Survey& survey, const Index& index, std::uint32_t sets) {
  Random random(survey.seed);
  std::vector<std::uint32_t> names;
  for (std::uint32_t set = 0; set < sets; ++set) names.push_back(1000 + set);
  shuffle(names, random);
  const std::uint64_t span = (std::uint64_t{1} << survey.address_bits) / survey.line_bytes;
  std::vector<PlacedLine> lines;
  for (std::size_t i = 0; i < survey.lines; ++i) {
    const std::uint64_t offset = random.below(span) * survey.line_bytes;
    const bool wrong = random.unit() < survey.wrong;
    lines.push_back({offset, names[wrong ? random.below(sets) : index(offset)]});
  }
  return lines;
}

/// Canonical form of masks: the basis that the fit promises.
std::vector<std::uint64_t> canonical(const std::vector<std::uint64_t>& masks) {
  Gf2Basis basis;
  for (std::uint64_t mask : masks) basis.insert(mask);
  return basis.rows();
}

TEST(IndexFunctionTest, finds_random_xor_masks_with_wrong_labels) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (int rank : {1, 2, 5, 11}) {
      Random random(derive_seed(seed, "masks"));
      Gf2Basis basis;
      while (basis.rank() < static_cast<std::size_t>(rank)) {
        basis.insert(random.below(1 << 24) & ~std::uint64_t{127});
      }
      std::vector<std::uint64_t> true_masks = basis.rows();
      for (std::size_t i = 1; i < true_masks.size(); ++i) true_masks[i] ^= true_masks[i - 1];
      const std::uint32_t sets = 1U << rank;
      const Index index = [&](std::uint64_t offset) { return fold_bits(offset, true_masks); };
      const auto lines = place_lines(
          {.lines = std::max(228U, 8 * sets), .wrong = 0.01, .seed = seed}, index, sets);

      const IndexFunction found = fit_index_function(lines, 128);

      ASSERT_NE(found.kind, IndexKind::unresolved) << found.reason;
      EXPECT_EQ(found.masks, canonical(true_masks));
      EXPECT_GE(found.agreement, 0.97);
    }
  }
}

TEST(IndexFunctionTest, finds_remainders) {
  for (std::uint32_t sets : {3U, 7U, 12U, 14U, 112U, 1792U}) {
    for (std::uint64_t granularity : {32U, 128U, 96U, 4096U}) {
      const Index index = [&](std::uint64_t offset) { return offset / granularity % sets; };
      const auto lines = place_lines(
          {.lines = std::max(200U, 6 * sets), .line_bytes = 32, .address_bits = 26, .wrong = 0.01},
          index, sets);

      const IndexFunction found = fit_index_function(lines, 32);

      ASSERT_EQ(found.kind, IndexKind::modulo) << sets << ": " << found.reason;
      EXPECT_EQ(found.sets, sets);
      EXPECT_EQ(found.granularity_bytes, granularity);
    }
  }
}

TEST(IndexFunctionTest, names_nothing_that_is_a_table) {
  for (std::uint32_t sets : {4U, 7U, 64U}) {
    const Index index = [&](std::uint64_t offset) { return mix_bits(offset >> 7) % sets; };

    const IndexFunction found =
        fit_index_function(place_lines({.lines = 40 * sets, .line_bytes = 32}, index, sets), 32);

    EXPECT_EQ(found.kind, IndexKind::unresolved) << describe(found);
    EXPECT_THAT(found.reason, testing::HasSubstr(std::to_string(sets) + " sets"));
  }
}

TEST(IndexFunctionTest, knows_only_bits_that_varied) {
  const Index index = [](std::uint64_t offset) { return (offset >> 7 ^ offset >> 14) & 3; };
  std::vector<PlacedLine> lines;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::uint64_t offset = i << 7 | (i & 1) << 20;  // bit 20 goes along with bit 7
    lines.push_back({offset, static_cast<std::uint32_t>(index(offset))});
  }

  const IndexFunction found = fit_index_function(lines, 128);

  EXPECT_EQ(describe(found), "bits 7-8");
  EXPECT_EQ(found.known_bits, 0x1f80U);
}

/// Lines of one set against others.
IndexFunction fit_one_set(const std::vector<std::uint64_t>& members,
                          const std::vector<std::uint64_t>& others) {
  std::vector<PlacedLine> lines;
  for (std::uint64_t line : members) lines.push_back({.offset_bytes = line, .set = 0});
  for (std::uint64_t line : others) lines.push_back({.offset_bytes = line, .set = other_set});
  return fit_index_function(lines, 128);
}

TEST(IndexFunctionTest, one_false_member_costs_no_mask) {
  const std::vector<std::uint64_t> masks{0x25A80, 0x59500, 0x8C200};
  Random random(11);
  std::vector<std::uint64_t> members;
  std::vector<std::uint64_t> others;
  while (members.size() < 63) {
    const std::uint64_t line = random.below(1 << 14) * 128;
    (fold_bits(line, masks) == 5 ? members : others).push_back(line);
  }
  members.insert(members.begin() + 6, others.back());
  others.pop_back();

  const IndexFunction index = fit_one_set(members, others);

  EXPECT_EQ(index.kind, IndexKind::xor_masks);
  EXPECT_EQ(index.sets, 8U);
}

/// Under random replacement many lines of the set do not show. If by chance nearly all that do have
/// a bit in common, a mask for it would leave out more lines of the set than it brings in.
TEST(IndexFunctionTest, a_mask_that_leaves_lines_of_the_set_out_is_not_believed) {
  constexpr std::uint64_t line_bytes = 32;
  Random random(3);
  std::vector<PlacedLine> lines;
  std::size_t shown = 0;
  std::size_t shown_of_other_half = 0;
  for (std::uint64_t line = 0; line < 1 << 18; ++line) {
    const bool of_set = (line & 0xfff) == 5;
    const bool half = (line >> 12 & 1) != 0;
    const bool shows = of_set && (half ? shown_of_other_half < 3 : random.below(4) != 0);
    shown += shows;
    shown_of_other_half += shows && half;
    lines.push_back({.offset_bytes = line * line_bytes, .set = shows ? 0 : other_set});
  }
  ASSERT_GT(shown, 10u);

  const IndexFunction found = fit_index_function(lines, line_bytes);

  EXPECT_TRUE(found.kind == IndexKind::unresolved || found.sets == 4096) << describe(found);
}

/// Lines of a few sets among all entries of a buffer.
std::vector<PlacedLine> entries_from(std::uint64_t address, std::uint64_t buffer_bytes,
                                     std::uint64_t entry_bytes, const Index& index) {
  std::vector<PlacedLine> lines;
  for (std::uint64_t offset = 0; offset < buffer_bytes; offset += entry_bytes) {
    const std::uint64_t set = index(address + offset);
    lines.push_back({offset, set == 5 ? static_cast<std::uint32_t>(set) : other_set});
  }
  return lines;
}

/// The second TLB of an H200 and of an H100, at addresses that their drivers gave: some bits change
/// at one place of the buffer alone, and lines of one set hardly show what they do.
TEST(IndexFunctionTest, a_fold_is_the_same_wherever_the_buffer_lies) {
  constexpr std::uint64_t entry_bytes = 32ULL << 20;
  const Index fold = [](std::uint64_t address) {
    return (address >> 25 ^ address >> 33 ^ address >> 41) & 0xff;
  };
  for (const std::uint64_t address :
       {0x7f0000000000, 0x7f0e40000000, 0x7fa1d0000000, 0x7fd5c0000000, 0x7f1140000000,
        0x7f1040000000, 0x7f1000000000, 0x7f0fc0000000, 0x7f10e0000000, 0x7f1800000000}) {
    for (const std::uint64_t buffer_bytes : {130ULL << 30, 128ULL << 30, 78ULL << 30}) {
      const IndexFunction found = fit_index_function(
          entries_from(address, buffer_bytes, entry_bytes, fold), entry_bytes, address);
      EXPECT_EQ(describe(found), "(address / 32 MiB) folded by XOR to 8 bits")
          << std::hex << address << ": " << found.reason;
      for (std::uint64_t far = 0; far < 1ULL << 47; far += 0x123'4560'0000)
        EXPECT_EQ(set_of(found, far) ^ set_of(found, far + entry_bytes),
                  fold(address + far) ^ fold(address + far + entry_bytes));
    }
  }
}

/// Two bits of many that are XORed with others are no fold.
TEST(IndexFunctionTest, free_masks_are_no_fold) {
  const Index hash = [](std::uint64_t address) {
    return (address >> 25 & 0xff) ^ (address >> 33 & 3) ^ (address >> 30 & 0x10);
  };
  const IndexFunction found =
      fit_index_function(entries_from(0, 128ULL << 30, 32ULL << 20, hash), 32ULL << 20, 0);
  EXPECT_EQ(describe(found), "bits 27-28, 30-32, 25^33, 26^34, 29^34") << found.reason;
}

}  // namespace
}  // namespace sonde
