// What a model file says of programs of loads and stores, where it can say more than its caches,
// paths and load-store unit do.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

namespace sonde::sim {

/// A machine whose SMs share L2 and DRAM cycle by cycle, and that can be changed (MachineChange).
/// GPUs without it play one SM with its share of both.
struct ProgramsModel {
  int l2_partitions = 1;  // each with a channel of DRAM
  double l2_partition_bytes_per_cycle = 32;
  double issue_cycles = 1;  // of a scheduler for one instruction

  static ProgramsModel read(Fields& fields) {
    return {.l2_partitions = fields.count<int>("l2_partitions", {1, limits::channels}),
            .l2_partition_bytes_per_cycle =
                fields.number("l2_partition_bytes_per_cycle", {0.01, limits::bytes_per_cycle}),
            .issue_cycles = fields.number("issue_cycles", {0.01, limits::cycles})};
  }
};

}  // namespace sonde::sim
