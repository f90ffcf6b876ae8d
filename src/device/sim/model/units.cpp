// Checks the numbers of units against each other, and reads pipelines.
#include "device/sim/model/units.hpp"

#include "base/arithmetic_ops.hpp"
#include "base/gpu_facts.hpp"

#include <algorithm>
#include <set>

namespace sonde::sim {

SharedModel::SharedModel(Fields& fields) : Section(fields) {
  if (bank_bytes != 4 && bank_bytes != 8) fields.fail("bank_bytes", "must be 4 or 8");
  if (latency.empty()) fields.fail("latency_cycles", "must hold a point");
  const auto descends = [](const PassPoint& a, const PassPoint& b) { return b.passes <= a.passes; };
  if (std::ranges::adjacent_find(latency, descends) != latency.end()) {
    fields.fail("latency_cycles", "must ascend in passes");
  }
}

double SharedModel::latency_cycles(double passes) const {
  const auto above = std::ranges::lower_bound(latency, passes, {}, &PassPoint::passes);
  if (above == latency.begin()) return latency.front().cycles;
  if (above == latency.end()) return latency.back().cycles;
  const PassPoint& below = *(above - 1);
  const double share = (passes - below.passes) / (above->passes - below.passes);
  return below.cycles + share * (above->cycles - below.cycles);
}

OccupancyModel::OccupancyModel(Fields& fields) : Section(fields) {
  if (registers_per_sm % parts != 0) fields.fail("parts", "must divide registers_per_sm");
}

namespace {

template <class Item>
std::size_t place_of(const std::vector<Item>& items, const std::string& name, const Fields& fields,
                     const char* key) {
  const auto found = std::ranges::find(items, name, &Item::name);
  if (found == items.end()) fields.fail(key, "names '" + name + "', which is not declared");
  return static_cast<std::size_t>(found - items.begin());
}

template <class Item>
void refuse_duplicates(const std::vector<Item>& items, const Fields& fields, const char* key) {
  std::set<std::string> names;
  for (const Item& item : items) {
    if (!names.insert(item.name).second) fields.fail(key, "holds '" + item.name + "' twice");
  }
}

/// How long an instruction of a warp occupies its unit: as declared, or 32 threads / lanes.
std::uint32_t read_occupied_cycles(Fields& fields) {
  if (fields.has("occupied_cycles")) return fields.count("occupied_cycles", {1, limits::cycles});
  const std::uint32_t lanes = fields.count("lanes", {1, warp_threads});
  if (warp_threads % lanes != 0) fields.fail("lanes", "must divide the 32 threads of a warp");
  return warp_threads / lanes;
}

ExecutionModel read_execution(Fields& fields, const std::vector<UnitModel>& units) {
  return {.unit = place_of(units, fields.text("unit"), fields, "unit"),
          .occupied_cycles = read_occupied_cycles(fields),
          .latency_cycles = fields.count("latency_cycles", {1, limits::cycles})};
}

/// Reads instructions that are executed alike.
void read_instructions(Fields& fields, PipelinesModel& model) {
  const std::vector<ExecutionModel> executions =
      fields.objects("on", [&](Fields& on) { return read_execution(on, model.units); });
  if (executions.empty()) fields.fail("on", "must hold a unit");
  for (const std::string& name : fields.texts("name")) {
    model.instructions.push_back({.name = name, .executions = executions});
    if (static_cast<double>(model.instructions.size()) > limits::instructions) {
      fields.fail("name", "exceeds the number of instructions");
    }
  }
}

std::vector<OpModel> read_ops(Fields& fields, const std::vector<InstructionModel>& instructions) {
  std::vector<OpModel> ops;
  for (const ArithmeticOp& known : arithmetic_ops) {
    const std::string name(known.name);
    if (!fields.has(name)) continue;
    OpModel& op = ops.emplace_back(OpModel{.name = name, .instructions = {}});
    for (const std::string& instruction : fields.list(name, &Value::text)) {
      op.instructions.push_back(place_of(instructions, instruction, fields, name.c_str()));
    }
    if (op.instructions.empty()) fields.fail(name, "must hold an instruction");
  }
  return ops;
}

}  // namespace

const OpModel* PipelinesModel::find_op(const std::string& name) const {
  const auto found = std::ranges::find(ops, name, &OpModel::name);
  return found == ops.end() ? nullptr : &*found;
}

std::string PipelinesModel::machine_code(const std::string& op) const {
  std::string text;
  const OpModel* found = find_op(op);
  if (found == nullptr) return text;
  for (std::size_t instruction : found->instructions) {
    text += (text.empty() ? "" : ", ") + instructions[instruction].name;
  }
  return text;
}

PipelinesModel::PipelinesModel(Fields& fields) : Section(fields) {
  units = fields.objects("units", [](Fields& unit) { return UnitModel(unit); });
  fields.objects("instructions", [&](Fields& item) {
    read_instructions(item, *this);
    return 0;
  });
  ops = fields.object("ops", [&](Fields& named) { return read_ops(named, instructions); });
  refuse_duplicates(units, fields, "units");
  refuse_duplicates(instructions, fields, "instructions");
}

}  // namespace sonde::sim
