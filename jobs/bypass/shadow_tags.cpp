#include "jobs/bypass/shadow_tags.hpp"

#include "device/probe/program_plan.hpp"

#include <algorithm>
#include <optional>

namespace sonde {
namespace {

/// A set of tags, the most recently used first.
struct TagSet {
  struct Tag {
    std::uint64_t line = 0;
    std::uint64_t sectors = 0;  // one bit each
  };
  std::vector<Tag> tags;

  /// @return whether all of the sectors were present; they are afterwards
  bool access(std::uint64_t line, std::uint64_t sectors, std::size_t ways) {
    const auto found = std::ranges::find(tags, line, &Tag::line);
    Tag tag{.line = line, .sectors = 0};
    if (found != tags.end()) {
      tag = *found;
      tags.erase(found);
    } else if (tags.size() == ways) {
      tags.pop_back();
    }
    const bool hit = (sectors & ~tag.sectors) == 0;
    tag.sectors |= sectors;
    tags.insert(tags.begin(), tag);
    return hit;
  }
};

/// A warp slot of the SM. It runs the warps of the blocks of this SM one after the other.
class Slot {
 public:
  Slot(const ProgramProbe& probe, const ProgramKernel& kernel, std::uint64_t slot,
       std::uint64_t sm_count)
      : probe_(&probe), kernel_(&kernel), slot_(slot), number_(slot), sm_count_(sm_count) {
    begin_warp();
  }

  /// Number of the bypassing unit that the slot's current warp belongs to.
  int unit() const {
    const auto warps = static_cast<std::uint64_t>(block_warps(*kernel_));
    if (probe_->level == BypassLevel::warp) return static_cast<int>(number_ % warps);
    return static_cast<int>(slot_ / warps);
  }

  const ProgramCursor& cursor() const { return *cursor_; }
  void advance() {
    cursor_->advance();
    if (!cursor_->at_end()) return;
    number_ += static_cast<std::uint64_t>(resident_warps(*probe_));
    begin_warp();
  }

 private:
  void begin_warp() {
    const auto warps = static_cast<std::uint64_t>(block_warps(*kernel_));
    const std::uint64_t blocks = std::uint64_t{kernel_->grid_x} * kernel_->grid_y;
    // Skips warps without a pass; every kernel has a warp with passes.
    for (;; number_ += static_cast<std::uint64_t>(resident_warps(*probe_))) {
      const std::uint64_t of_sm = std::max<std::uint64_t>(blocks / sm_count_, 1);
      const std::uint64_t block = number_ / warps % of_sm * sm_count_ % blocks;
      cursor_.emplace(probe_->program, *kernel_,
                      ProgramWarp{.block_x = static_cast<std::uint32_t>(block % kernel_->grid_x),
                                  .block_y = static_cast<std::uint32_t>(block / kernel_->grid_x),
                                  .warp = static_cast<std::uint32_t>(number_ % warps)});
      if (!cursor_->at_end()) return;
    }
  }

  const ProgramProbe* probe_;
  const ProgramKernel* kernel_;
  std::uint64_t slot_;
  std::uint64_t number_;  // of the warp among all warps of the SM
  std::uint64_t sm_count_;
  std::optional<ProgramCursor> cursor_;
};

/// A line, and the sectors of it that an access covers, one bit each.
struct CoveredLine {
  std::uint64_t line = 0;
  std::uint64_t sectors = 0;
};

std::vector<CoveredLine> lines_of(const ProgramCursor& cursor,
                                  const std::vector<std::uint64_t>& arrays_bytes,
                                  const TagGeometry& geometry) {
  std::uint64_t elements[32];
  cursor.elements(elements);
  std::vector<CoveredLine> lines;
  for (std::uint64_t element : elements) {
    const std::uint64_t address =
        arrays_bytes[cursor.access().array] + element * program_element_bytes;
    const std::uint64_t line = address / geometry.line_bytes;
    const std::uint64_t sector = address % geometry.line_bytes / geometry.sector_bytes;
    auto found = std::ranges::find(lines, line, &CoveredLine::line);
    if (found == lines.end()) found = lines.insert(found, {.line = line});
    found->sectors |= std::uint64_t{1} << sector;
  }
  return lines;
}

/// The sets of the L1 when `cached` units use it.
struct ShadowTags {
  int cached = 0;
  std::vector<TagSet> sets;
  double hits = 0;
};

std::uint64_t fold(std::uint64_t line, std::uint64_t sets) {
  std::uint64_t folded = 0;
  for (; line > 0; line /= sets) folded ^= line % sets;
  return folded % sets;
}

void play_load(const std::vector<CoveredLine>& lines, std::size_t ways, ShadowTags& tags) {
  for (const auto& [line, sectors] : lines) {
    const std::uint64_t set = fold(line, tags.sets.size());
    if (set % sampled_set_ratio != 0) continue;
    if (tags.sets[set].access(line, sectors, ways)) tags.hits += sampled_set_ratio;
  }
}

}  // namespace

std::vector<double> estimate_hits(const ProgramProbe& probe, const std::vector<int>& cached,
                                  const TagGeometry& geometry, int sm_count) {
  const std::vector<std::uint64_t> arrays_bytes = array_offsets_bytes(probe.program);
  const auto ways = static_cast<std::size_t>(std::max(geometry.ways, 1));
  const std::uint64_t sets = std::max<std::uint64_t>(geometry.lines / ways, sampled_set_ratio);
  const auto warps = static_cast<std::uint64_t>(resident_warps(probe));
  const auto shares = share_accesses(probe.program, probe.sm_accesses, warps);
  std::vector<ShadowTags> all_tags;
  for (int units : cached) all_tags.push_back({.cached = units, .sets = {}, .hits = 0});
  for (std::size_t at = 0; at < probe.program.kernels.size(); ++at) {
    // The L1 is empty when a kernel begins.
    for (ShadowTags& tags : all_tags) tags.sets.assign(sets, {});
    std::vector<Slot> slots;
    for (std::uint64_t slot = 0; slot < warps; ++slot) {
      slots.emplace_back(probe, probe.program.kernels[at], slot,
                         static_cast<std::uint64_t>(sm_count));
    }
    for (std::uint64_t turn = 0; turn < shares[at] / warps; ++turn) {
      for (Slot& slot : slots) {
        if (!slot.cursor().access().store) {
          const auto lines = lines_of(slot.cursor(), arrays_bytes, geometry);
          const int unit = slot.unit();
          for (ShadowTags& tags : all_tags) {
            if (unit < tags.cached) play_load(lines, ways, tags);
          }
        }
        slot.advance();
      }
    }
  }
  std::vector<double> hits;
  for (const ShadowTags& tags : all_tags) hits.push_back(tags.hits);
  return hits;
}

}  // namespace sonde
