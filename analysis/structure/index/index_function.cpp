// The set of a line under an index function, and the function in the words of a reader: bits and
// XORs of bits, lowest first.
#include "analysis/structure/index/index_function.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <regex>

namespace sonde {
namespace {

constexpr std::uint32_t most_sets = 1 << 20;

/// "7-8, 11" of bits 7, 8 and 11. @pre ascending
std::vector<std::string> join_runs(const std::vector<int>& bits) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < bits.size();) {
    std::size_t end = i + 1;
    while (end < bits.size() && bits[end] == bits[end - 1] + 1) ++end;
    runs.push_back(end - i == 1 ? std::to_string(bits[i])
                                : fmt::format("{}-{}", bits[i], bits[end - 1]));
    i = end;
  }
  return runs;
}

}  // namespace

bool can_number_sets(const IndexFunction& index) {
  return index.kind != IndexKind::unresolved && index.sets > 0 && index.sets <= most_sets;
}

std::uint64_t set_of(const IndexFunction& index, std::uint64_t offset_bytes) {
  const std::uint64_t address = index.buffer_address + offset_bytes;
  if (index.kind == IndexKind::modulo) return address / index.granularity_bytes % index.sets;
  return fold_bits(address, index.masks);
}

std::string describe_mask(std::uint64_t mask) {
  std::vector<int> bits;
  for (; mask != 0; mask &= mask - 1) bits.push_back(std::countr_zero(mask));
  return fmt::format("{}", fmt::join(bits, "^"));
}

std::string describe(const IndexFunction& function) {
  switch (function.kind) {
    case IndexKind::one_set: return "one set";
    case IndexKind::unresolved: return "unresolved";
    case IndexKind::modulo:
      return fmt::format("(address / {}) mod {}",
                         format_bytes(static_cast<double>(function.granularity_bytes)),
                         function.sets);
    case IndexKind::xor_fold:
      return fmt::format("(address / {}) folded by XOR to {} bits",
                         format_bytes(static_cast<double>(function.granularity_bytes)),
                         function.masks.size());
    case IndexKind::bit_field:
    case IndexKind::xor_masks: break;
  }
  std::vector<int> plain;
  std::vector<std::string> folded;
  for (std::uint64_t mask : function.masks) {
    if (std::has_single_bit(mask)) {
      plain.push_back(std::countr_zero(mask));
    } else {
      folded.push_back(describe_mask(mask));
    }
  }
  std::vector<std::string> parts = join_runs(plain);
  parts.insert(parts.end(), folded.begin(), folded.end());
  return fmt::format("{} {}", function.masks.size() == 1 ? "bit" : "bits", fmt::join(parts, ", "));
}

IndexFunction make_fold(int low_bit, int bits) {
  constexpr int address_bits = 48;
  IndexFunction fold{.kind = IndexKind::xor_fold,
                     .masks = std::vector<std::uint64_t>(static_cast<std::size_t>(bits)),
                     .granularity_bytes = std::uint64_t{1} << low_bit,
                     .sets = 1U << bits};
  for (int bit = low_bit; bit < address_bits; ++bit)
    fold.masks[static_cast<std::size_t>((bit - low_bit) % bits)] |= std::uint64_t{1} << bit;
  return fold;
}

IndexFunction parse_index_function(const std::string& text) {
  static const std::regex fold(R"(\(address / (.+)\) folded by XOR to (\d+) bits)");
  static const std::regex remainder(R"(\(address / (.+)\) mod (\d+))");
  static const std::regex masks(R"(bits? (\d+([-^]\d+)*(, )?)+)");
  static const std::regex part(R"((\d+)(-(\d+))?((\^\d+)*))");
  static const std::regex digits(R"(\d+)");
  std::smatch match;
  if (text == "one set") return {.kind = IndexKind::one_set, .sets = 1};
  if (std::regex_match(text, match, fold))
    return make_fold(std::countr_zero(parse_bytes(match[1].str())), std::stoi(match[2]));
  if (std::regex_match(text, match, remainder)) {
    return {.kind = IndexKind::modulo,
            .granularity_bytes = parse_bytes(match[1].str()),
            .sets = static_cast<std::uint32_t>(std::stoul(match[2]))};
  }
  IndexFunction index;
  if (!std::regex_match(text, masks)) return index;
  const auto bit = [](const std::string& number) { return std::uint64_t{1} << std::stoi(number); };
  for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at) {
    const std::uint64_t first = bit((*at)[1]);
    index.masks.push_back(first);
    if ((*at)[3].matched)
      for (std::uint64_t next = 2 * first; next <= bit((*at)[3]); next *= 2)
        index.masks.push_back(next);
    const std::string others = (*at)[4];
    for (std::sregex_iterator other(others.begin(), others.end(), digits); other != end; ++other)
      index.masks.back() |= bit((*other)[0]);
  }
  index.kind = std::ranges::all_of(index.masks, [](auto mask) { return std::has_single_bit(mask); })
                   ? IndexKind::bit_field
                   : IndexKind::xor_masks;
  index.sets = 1U << index.masks.size();
  return index;
}

namespace {

std::uint64_t lowest_bit(std::uint64_t vector) { return vector & (~vector + 1); }

}  // namespace

std::uint64_t Gf2Basis::reduce(std::uint64_t vector) const {
  for (std::uint64_t row : rows_) {
    if ((vector & lowest_bit(row)) != 0) vector ^= row;
  }
  return vector;
}

bool Gf2Basis::insert(std::uint64_t vector) {
  vector = reduce(vector);
  if (vector == 0) return false;
  const std::uint64_t pivot = lowest_bit(vector);
  for (std::uint64_t& row : rows_) {
    if ((row & pivot) != 0) row ^= vector;
  }
  const auto place =
      std::ranges::find_if(rows_, [&](std::uint64_t row) { return lowest_bit(row) > pivot; });
  rows_.insert(place, vector);
  return true;
}

Gf2Basis orthogonal_complement(const Gf2Basis& span, std::uint64_t bits) {
  std::uint64_t pivots = 0;
  for (std::uint64_t row : span.rows()) pivots |= lowest_bit(row);
  Gf2Basis complement;
  for (std::uint64_t free = bits & ~pivots; free != 0; free &= free - 1) {
    std::uint64_t mask = lowest_bit(free);
    for (std::uint64_t row : span.rows()) {
      if ((row & lowest_bit(free)) != 0) mask |= lowest_bit(row);
    }
    complement.insert(mask & bits);
  }
  return complement;
}

std::uint64_t fold_bits(std::uint64_t value, const std::vector<std::uint64_t>& masks) {
  std::uint64_t folded = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    folded |= (static_cast<std::uint64_t>(std::popcount(value & masks[i])) & 1U) << i;
  }
  return folded;
}

}  // namespace sonde
