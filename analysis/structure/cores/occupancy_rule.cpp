#include "analysis/structure/cores/occupancy_rule.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sonde {
namespace {

constexpr int warp_size = 32;
/// Register files have a multiple of 1,024: 16,384 on the GT200 (Wong 2010), more on later GPUs.
constexpr int register_step = 1024;
constexpr std::array register_units{1, 2, 4, 8, 16, 32};
constexpr std::array thread_quanta{1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr std::array part_counts{1, 2, 4};

int round_up(int value, int step) { return (value + step - 1) / step * step; }

/// Number of blocks for which the registers of an SM suffice.
int blocks_by_registers(const OccupancyRule& rule, int registers_per_thread, int block_threads) {
  const int registers = round_up(registers_per_thread, rule.register_unit);
  const int threads = round_up(block_threads, rule.thread_quantum);
  if (rule.parts == 1) return rule.registers_per_sm / (registers * threads);
  // A warp goes to the part with most free registers, so all parts fill evenly.
  const int warps_of_part = rule.registers_per_sm / rule.parts / (registers * warp_size);
  return rule.parts * warps_of_part / (round_up(threads, warp_size) / warp_size);
}

/// Number of blocks that an SM holds by this rule.
int blocks_by_rule(const OccupancyRule& rule, int registers_per_thread, int block_threads) {
  const int warp_slots = rule.most_threads / warp_size;
  const int warps = round_up(block_threads, warp_size) / warp_size;
  return std::min({rule.most_blocks, warp_slots / warps,
                   blocks_by_registers(rule, registers_per_thread, block_threads)});
}

bool explains(const OccupancyRule& rule, std::span<const HeldBlocks> held) {
  return std::ranges::all_of(held, [&](const HeldBlocks& shape) {
    return blocks_by_rule(rule, shape.registers_per_thread, shape.block_threads) == shape.blocks;
  });
}

/// The value that all rules share.
std::optional<int> common(const std::set<int>& values) {
  return values.size() == 1 ? std::optional(*values.begin()) : std::nullopt;
}

/// Upper limit of the registers per SM: the most that a shape used, rounded up to the coarsest
/// units.
int most_registers(std::span<const HeldBlocks> held) {
  int most = register_step;
  for (const HeldBlocks& shape : held) {
    const int used = shape.blocks * round_up(shape.block_threads, thread_quanta.back()) *
                     round_up(shape.registers_per_thread, register_units.back());
    most = std::max(most, used);
  }
  return round_up(most, register_step);
}

}  // namespace

int most_blocks(std::span<const HeldBlocks> held) {
  int most = 0;
  for (const HeldBlocks& shape : held) most = std::max(most, shape.blocks);
  return most;
}

int most_threads(std::span<const HeldBlocks> held) {
  int most = 0;
  for (const HeldBlocks& shape : held) {
    most = std::max(most, shape.blocks * round_up(shape.block_threads, warp_size));
  }
  return most;
}

FoundRule find_occupancy_rule(std::span<const HeldBlocks> held) {
  FoundRule found;
  std::set<int> registers, units, quanta;
  OccupancyRule rule{.most_blocks = most_blocks(held), .most_threads = most_threads(held)};
  const int most = most_registers(held);
  for (int parts : part_counts) {
    rule.parts = parts;
    for (int unit : register_units) {
      rule.register_unit = unit;
      for (int quantum : thread_quanta) {
        // A warp lies in one part.
        if (parts > 1 && quantum < warp_size) continue;
        rule.thread_quantum = quantum;
        for (int all = register_step; all <= most; all += register_step) {
          rule.registers_per_sm = all;
          if (all % parts != 0 || !explains(rule, held)) continue;
          ++found.rules;
          registers.insert(all);
          units.insert(unit);
          quanta.insert(quantum);
        }
      }
    }
  }
  found.registers_per_sm = common(registers);
  found.register_unit = common(units);
  found.thread_quantum = common(quanta);
  return found;
}

}  // namespace sonde
