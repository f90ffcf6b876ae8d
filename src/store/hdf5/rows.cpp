#include "store/hdf5/rows.hpp"

#include "trace/health.hpp"

namespace sonde {

namespace {

/// A table whose first column names the device of each row.
template <class Row>
BoundTable<Row> table_by_device(TableKey key) {
  BoundTable<Row> table(std::move(key));
  table.add("device_index", "1", "row of the device in /devices", &Row::device_index,
            keys::devices);
  return table;
}

void add_health(BoundTable<DeviceRow>& table, const std::string& when, const std::string& note,
                Health DeviceResult::*health) {
  for_each_health([&](const char* name, const char* units, const char* what, auto member) {
    table.add(when + name, units, what + note, at(&DeviceRow::device, health, member));
  });
}

}  // namespace

BoundTable<DeviceRow> device_table() {
  const auto info = [](auto member) { return at(&DeviceRow::device, &DeviceResult::info, member); };
  const auto device = [](auto member) { return at(&DeviceRow::device, member); };
  BoundTable<DeviceRow> table(keys::devices);
  table.add("uuid", "", "UUID", info(&DeviceInfo::uuid))
      .add("name", "", "product name", info(&DeviceInfo::name))
      .add("serial", "", "serial number of the board", info(&DeviceInfo::serial))
      .add("pci_bus_id", "", "PCI domain:bus:device.function", info(&DeviceInfo::pci_bus_id))
      .add("vbios", "", "VBIOS version", info(&DeviceInfo::vbios))
      .add("driver_version", "", "driver version", info(&DeviceInfo::driver_version))
      .add("runtime_version", "", "runtime version", info(&DeviceInfo::runtime_version))
      .add("node", "", "host that held the GPU", device(&DeviceResult::node))
      .add("rank", "1", "MPI rank that measured it", device(&DeviceResult::rank))
      .add("status", "", "complete, incomplete or lost", device(&DeviceResult::status))
      .add("reason", "", "why it is not complete", device(&DeviceResult::reason))
      .add("compute_major", "1", "compute capability", info(&DeviceInfo::compute_major))
      .add("compute_minor", "1", "compute capability", info(&DeviceInfo::compute_minor))
      .add("sm_count", "1", "streaming multiprocessors", info(&DeviceInfo::sm_count))
      .add("warp_threads", "1", "threads of a warp", info(&DeviceInfo::warp_threads))
      .add("max_threads_per_block", "1", "most threads of a block",
           info(&DeviceInfo::max_threads_per_block))
      .add("max_threads_per_sm", "1", "most threads on an SM",
           info(&DeviceInfo::max_threads_per_sm))
      .add("max_cluster_blocks", "1", "most blocks of a thread block cluster",
           info(&DeviceInfo::max_cluster_blocks))
      .add("memory_bytes", "byte", "device memory", info(&DeviceInfo::memory_bytes))
      .add("l2_bytes", "byte", "L2 size as the driver reports it", info(&DeviceInfo::l2_bytes))
      .add("shared_bytes_per_block", "byte", "most shared memory of a block",
           info(&DeviceInfo::shared_bytes_per_block))
      .add("shared_bytes_per_sm", "byte", "shared memory of an SM",
           info(&DeviceInfo::shared_bytes_per_sm))
      .add("reserved_shared_bytes_per_block", "byte", "shared memory that the driver keeps",
           info(&DeviceInfo::reserved_shared_bytes_per_block))
      .add("sm_clock_hz", "Hz", "highest SM clock", info(&DeviceInfo::sm_clock_hz))
      .add("memory_clock_hz", "Hz", "highest memory clock", info(&DeviceInfo::memory_clock_hz))
      .add("memory_bus_bits", "bit", "width of the memory bus", info(&DeviceInfo::memory_bus_bits))
      .add("memory_data_rate", "1", "transfers per memory clock",
           info(&DeviceInfo::memory_data_rate))
      .add("ecc", "1", "ECC is on", info(&DeviceInfo::ecc))
      .add("mig", "1", "this is a MIG slice", info(&DeviceInfo::mig))
      .add("mps", "1", "MPS is on", info(&DeviceInfo::mps))
      .add("foreign_processes", "1", "compute processes of others on this GPU",
           info(&DeviceInfo::foreign_processes))
      .add_range("carveout", "its possible shared parts of the L1", keys::carveouts,
                 &DeviceRow::carveouts);
  add_health(table, "before_", ", before the first job", &DeviceResult::before);
  add_health(table, "after_", ", after the last job", &DeviceResult::after);
  return table
      .add("point_index", "1", "row of its options in /points, 0 if there is no such table",
           device(&DeviceResult::point_index))
      .add_range("outcome", "its jobs in /outcomes, in the order in which they ran", keys::outcomes,
                 &DeviceRow::outcomes);
}

BoundTable<UnauditedDevice> unaudited_table() {
  return BoundTable<UnauditedDevice>({"unaudited", "unaudited"})
      .add("node", "", "host of the GPU", &UnauditedDevice::node)
      .add("uuid", "", "UUID of a GPU that nobody measured", &UnauditedDevice::uuid);
}

BoundTable<OutcomeRow> outcome_table() {
  const auto result = [](auto member) { return at(&OutcomeRow::result, member); };
  return table_by_device<OutcomeRow>(keys::outcomes)
      .add("job", "", "name of the job", result(&JobResult::job))
      .add("status", "", "outcome of the job", result(&JobResult::status))
      .add("reason", "", "why it is not ok", result(&JobResult::reason))
      .add("elapsed_s", "s", "wall time of the job", result(&JobResult::elapsed_s))
      .add("device_s", "s", "part of elapsed_s in which the device worked on probes",
           result(&JobResult::device_s))
      .add_range("probe", "its probes in /probes", keys::probes, &OutcomeRow::probes)
      .add_range("finding", "its findings in /findings", keys::findings, &OutcomeRow::findings);
}

BoundTable<ProbeRow> probe_table() {
  const auto condition = [](auto member) {
    return at(&ProbeRow::record, &ProbeRecord::trace, &Trace::conditions, member);
  };
  auto table = table_by_device<ProbeRow>(keys::probes);
  table.add("label", "", "purpose of the probe", at(&ProbeRow::record, &ProbeRecord::label))
      .add("kind", "", "kind of probe", at(&ProbeRow::record, &ProbeRecord::kind))
      .add("parameters_json", "", "all parameters but the lists of offsets",
           at(&ProbeRow::record, &ProbeRecord::parameters_json))
      .add("shared_carveout_bytes", "byte", "shared part of the L1 in force",
           at(&ProbeRow::record, &ProbeRecord::trace, &Trace::shared_carveout_bytes))
      .add("buffer_offset_bytes", "byte", "address of the buffer (simulated: in the memory)",
           at(&ProbeRow::record, &ProbeRecord::trace, &Trace::buffer_offset_bytes))
      .add("device_s", "s", "time in which the device worked on it",
           at(&ProbeRow::record, &ProbeRecord::trace, &Trace::device_s))
      .add("sm_clock_hz", "Hz", "SM clock", condition(&Conditions::sm_clock_hz))
      .add("memory_clock_hz", "Hz", "memory clock", condition(&Conditions::memory_clock_hz))
      .add("temperature_c", "degree_Celsius", "GPU temperature",
           condition(&Conditions::temperature_c))
      .add("throttle_reasons", "1", "NVML clocks event reasons, a bit mask",
           condition(&Conditions::throttle_reasons))
      .add("seed", "1", "seed of the probe", condition(&Conditions::seed))
      .add("start_unix_ns", "ns", "start, since 1970-01-01 UTC",
           condition(&Conditions::start_unix_ns))
      .add_range("lane", "its lanes in /traces", keys::lanes, &ProbeRow::lanes)
      .add_range("repeat", "its repeats in /traces", keys::repeats, &ProbeRow::repeats)
      .add_range("long", "the long_cycles of its lanes", keys::long_windows,
                 &ProbeRow::long_windows);
  for (std::size_t kind = 0; kind < recorded::dimensions.size(); ++kind) {
    const std::string dimension = recorded::dimensions[kind];
    table.add(
        dimension + "_offset", "1", "first row of its lanes in the dimension " + dimension,
        [kind](auto& row) -> auto& { return row.first_recorded[kind]; }, keys::recorded(kind));
  }
  return table;
}

BoundTable<LaneRow> lane_table() {
  BoundTable<LaneRow> table(keys::lanes);
  table.add("sm", "1", "SM it ran on, -1 if not known", &LaneRow::sm)
      .add("warp", "1", "warp of its block", &LaneRow::warp)
      .add("cluster", "1", "thread block cluster, or launch; -1 if none", &LaneRow::cluster)
      .add("elapsed_cycles", "cycle", "whole timed part, by the SM clock", &LaneRow::elapsed_cycles)
      .add("accesses", "1", "accesses in elapsed_cycles", &LaneRow::accesses)
      .add("list_index", "1", "row of its addresses, in the dimension list", &LaneRow::list,
           keys::lists);
  for (std::size_t kind = 0; kind < recorded::dimensions.size(); ++kind) {
    const std::string dimension = recorded::dimensions[kind];
    table.add(
        dimension + "_length", "1",
        "number of its rows in the dimension " + dimension, [kind](auto& row) -> auto& {
          return row.recorded[kind];
        });
  }
  return table;
}

BoundTable<ListRow> list_table() {
  return BoundTable<ListRow>(keys::lists)
      .add("visit_step_bytes", "byte", "unit of its visit_steps", &ListRow::step_bytes)
      .add_range("visit", "its visit_steps", keys::visits, &ListRow::visits);
}

BoundTable<WindowCount> bin_table() {
  return BoundTable<WindowCount>(keys::recorded(recorded::bins))
      .add("bin_cycles", "cycle", "number of the bin: window_cycles, of the last one or more",
           &WindowCount::window_cycles)
      .add("bin_accesses", "1", "timed accesses in the bin", &WindowCount::accesses);
}

BoundTable<FindingRow> finding_table() {
  const auto finding = [](auto member) { return at(&FindingRow::finding, member); };
  return table_by_device<FindingRow>(keys::findings)
      .add("metric", "", "name of the metric", finding(&Finding::metric))
      .add("unit", "", "unit of number, vector_values and deviations", &FindingRow::unit)
      .add("value_kind", "", "none, number, text or vector", &FindingRow::value_kind)
      .add("status", "", "outcome", finding(&Finding::status))
      .add("text", "", "the value if it is a text", &FindingRow::text)
      .add("reason", "", "why there is no value, or what to know about it",
           finding(&Finding::reason))
      .add("number", "1", "the value if it is a number, else NaN", &FindingRow::number)
      .add_range("vector", "the value if it is a vector, in vector_values", keys::vectors,
                 &FindingRow::vector)
      .add("confidence", "1", "0 to 1: that the value is right", finding(&Finding::confidence))
      .add("samples", "1", "measurements behind the value", finding(&Finding::samples))
      .add("repeatability", "1",
           "standard deviation of the measurements within one replicate, in the metric's unit",
           finding(&Finding::repeatability))
      .add("reproducibility", "1", "standard deviation of the values of replicates, likewise",
           finding(&Finding::reproducibility))
      .add("replicates", "1",
           "replicates of the measurement, each with other pages, another SM and another order",
           finding(&Finding::replicates))
      .add_range("mode", "its modes, in mode_values", keys::modes, &FindingRow::modes)
      .add("interval_low", "1", "where a gradual loss begins, else NaN",
           at(&FindingRow::interval, &Interval::low))
      .add("interval_high", "1", "where a gradual loss ends, else NaN",
           at(&FindingRow::interval, &Interval::high));
}

}  // namespace sonde
