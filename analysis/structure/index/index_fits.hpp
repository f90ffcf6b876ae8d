// One fit for each kind of index function, from what lines of one set have in common. A few lines
// may have a wrong label: where all of them fit no function well, random pairs of lines do, unless
// a wrong one is among them (Fischler and Bolles 1981, consensus).
#pragma once

#include "analysis/structure/index/index_sample.hpp"

namespace sonde {

/// A function and how it fits; none at first.
struct IndexCandidate {
  IndexFunction index;
  IndexMatch match;

  /// Takes another function in its place if more lines agree with that.
  void improve(const IndexSample& sample, IndexFunction other);
};

/// XORs of address bits: lines of one set differ by vectors on which every mask has even parity.
void fit_masks(const IndexSample& sample, IndexCandidate& best);

/// Remainders of (offset / granularity): lines of one set lie multiples of the sets' number apart.
void fit_modulo(const IndexSample& sample, std::uint64_t line_bytes, IndexCandidate& best);

/// Masks from a start of the buffer of so many lines below `origins`: from a wrong start the
/// differences show no order, so their rank is high. Several starts explain the sample alike; taken
/// is the one with the fewest masks, of the fewest bits, whatever the buffer.
void fit_masks_from_any_origin(const IndexSample& sample, std::uint64_t line_bytes,
                               std::uint64_t origins, IndexCandidate& best);

/// Bits of (offset + origin) that varied independently of lower ones.
std::uint64_t independent_bits(const IndexSample& sample, std::uint64_t origin_bytes);

}  // namespace sonde
