// The pipelines of a simulated SM, with the reading of their section of a model file: who issues
// instructions, which units execute them, and what instructions the operations of probes become.
// cores/issue plays warps through them.
#pragma once

#include "device/sim/model/json_fields.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::sim {

/// Whether each scheduler has units of its own, or all of an SM share them.
enum class UnitScope { sm, scheduler };

/// Execution units of one kind. Each takes one instruction of a warp at a time. With `crowded_from`
/// others under way in it, the result comes `crowded_cycles` later (0: never).
struct UnitModel {
  std::string name;
  UnitScope scope = UnitScope::sm;
  int count = 1;
  std::uint32_t crowded_from = 0;
  std::uint32_t crowded_cycles = 0;
};

/// How one kind of unit executes an instruction.
struct ExecutionModel {
  std::size_t unit = 0;               // place in PipelinesModel::units
  std::uint32_t occupied_cycles = 1;  // 32 threads / lanes
  std::uint32_t latency_cycles = 1;
};

/// An instruction; the first free unit takes it, in the order declared.
struct InstructionModel {
  std::string name;
  std::vector<ExecutionModel> executions;
};

/// What a step of an operation becomes: each instruction waits for the one before.
struct OpModel {
  std::string name;
  std::vector<std::size_t> instructions;  // places in PipelinesModel::instructions
};

struct PipelinesModel {
  int schedulers = 1;   // of an SM; its warps are dealt to them one by one
  int issue_width = 1;  // instructions of one warp that a scheduler issues at a time
  std::uint32_t issue_interval_cycles = 1;
  std::vector<UnitModel> units;
  std::vector<InstructionModel> instructions;
  std::vector<OpModel> ops;

  PipelinesModel() = default;
  explicit PipelinesModel(Fields& fields);

  /// nullptr if there is none
  const OpModel* find_op(const std::string& name) const;
  /// The instructions of an operation, as "FMUL, MUFU.SIN"; empty if there is none.
  std::string machine_code(const std::string& op) const;
};

}  // namespace sonde::sim
