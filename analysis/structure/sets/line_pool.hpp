// Where a search for sets finds its lines.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde {

/// The lines that a search may use. Lists of lines are ascending.
struct LinePool {
  std::uint64_t line_bytes = 0;
  std::uint64_t span_bytes = 0;    // lines lie below this; a power of two shows most address bits
  std::uint64_t cached_lines = 0;  // what the cache holds, roughly
  std::uint64_t seed = 0;
  Lines co_resident = {};  // accessed in every pass of each list: they take ways of their own
  Lines excluded = {};  // others that no list may access: inner caches keep them along with these
  Lines taken = {};     // those of `excluded` in whose sets the co-resident lines leave no way
  /// Where no function tells which sets lines lie in, sets are looked for one by one as long as
  /// there are no more than these.
  std::size_t most_single_sets = 64;
  /// Of offset 0, where sets are chosen by more of the address than a buffer is aligned to.
  std::uint64_t buffer_address = 0;
};

/// Part of a span, in offsets.
struct SpanPart {
  std::uint64_t begin_bytes = 0;
  std::uint64_t end_bytes = 0;
};

/// The span without a short end beyond a multiple of its size (less than a sixteenth) or of half
/// its size (a thirty-second) among the addresses: lines there differ from all others in an address
/// bit, or in that two bits are not alike. So few of them do not show it, and a function of what is
/// seen gives them wrong sets. Of 128 GiB that begin 1 GiB behind an odd multiple of 64 GiB, bit 37
/// is bit 36 reversed in all but the last GiB.
SpanPart part_of_seen_bits(const LinePool& space);

/// Whether no list may access the line.
bool is_taken(const LinePool& space, std::uint64_t line);

/// At most `count` lines of the span in a random order, none of them taken.
Lines choose_lines(const LinePool& space, std::uint64_t count, std::uint64_t seed);

/// The lines of this length that offsets lie in, each once, ascending.
Lines lines_under(const Lines& offsets, std::uint64_t line_bytes);

}  // namespace sonde
