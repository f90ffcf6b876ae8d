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
  std::uint32_t l2_mshrs = 1;          // of a partition
  std::uint32_t l2_queue_entries = 1;  // requests that wait for a partition
  std::uint32_t dram_banks = 1;        // of a channel
  double bank_row_ns = 0;              // from one row of a bank to the next
  double issue_cycles = 1;             // of a scheduler for one instruction

  static ProgramsModel read(Fields& fields) {
    return {.l2_partitions = fields.count<int>("l2_partitions", {1, limits::channels}),
            .l2_partition_bytes_per_cycle =
                fields.number("l2_partition_bytes_per_cycle", {0.01, limits::bytes_per_cycle}),
            .l2_mshrs = fields.count("l2_mshrs", {1, limits::partition_entries}),
            .l2_queue_entries = fields.count("l2_queue_entries", {1, limits::partition_entries}),
            .dram_banks = fields.count("dram_banks", {1, limits::objects}),
            .bank_row_ns = fields.number("bank_row_ns", {0, limits::nanoseconds}),
            .issue_cycles = fields.number("issue_cycles", {0.01, limits::cycles})};
  }
};

}  // namespace sonde::sim
