// Small and quiet simulated GPUs for the tests of the engine.
#pragma once

#include "base/error.hpp"
#include "device/sim/model/model_files.hpp"
#include "device/sim/sim_device.hpp"
#include "support/thrown.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace sonde::sim {

/// The JSON of a shipped model without jitter and outliers, to be changed by a test.
inline nlohmann::json quiet_json(std::string_view name) {
  nlohmann::json model = read_whole(nlohmann::json{{"base", name}}.dump(), "test");
  model["noise"]["outlier_probability"] = 0;
  model["dram"]["jitter_cycles"] = 0;
  model["shared"]["jitter_cycles"] = 0;
  for (nlohmann::json& cache : model["caches"]) cache["jitter_cycles"] = 0;
  return model;
}

/// The error of reading that text or JSON as the model file mine.json.
inline std::string complaint_about_text(const std::string& text) {
  return test::thrown<ConfigError>([&] { parse_model(text, "mine.json"); });
}
inline std::string complaint_about(const nlohmann::json& model) {
  return complaint_about_text(model.dump());
}
/// The same of a model with another value at that place (RFC 6901); null: without the key.
inline std::string complaint_about(nlohmann::json model, const std::string& place,
                                   const nlohmann::json& value) {
  const nlohmann::json::json_pointer at(place);
  if (value.is_null()) {
    model.at(at.parent_pointer()).erase(at.back());
  } else {
    model[at] = value;
  }
  return complaint_about(model);
}

/// No SM and no slice of an H200 lies nearer than another.
inline void equalise_distances(nlohmann::json& h200) {
  h200["caches"][1]["sm_spread_cycles"] = 0;
  h200["caches"][1].erase("tpc_cycles");
  h200["slices"]["spread_cycles"] = 0;
  h200["slices"].erase("sides");
  h200["partitions"].erase("copy_cycles");
}

inline std::unique_ptr<Device> open_sim(const nlohmann::json& model, std::uint64_t seed = 1,
                                        const Faults& faults = {}) {
  return std::make_unique<SimDevice>(FaultyModel{parse_model(model.dump(), "test"), faults},
                                     die_seed(seed, 0));
}

/// Bytes per second of a stream.
inline double rate(Device& device, const StreamProbe& probe) {
  return stream_bytes(probe) / device.run(probe).repeat_ns.at(0) * 1e9;
}

/// One lane on SM 0 that chases through `offsets`; each timed access is recorded.
inline ChaseProbe chase(std::vector<std::uint64_t> offsets, std::uint64_t warmup,
                        std::uint64_t timed, LoadPath path = LoadPath::all_levels) {
  ChaseProbe probe;
  probe.buffer_bytes = *std::max_element(offsets.begin(), offsets.end()) +
                       (path == LoadPath::instruction ? code_block_bytes : 8);
  probe.lanes = {{.sm = 0, .offsets_bytes = std::move(offsets), .path = path}};
  probe.warmup_accesses = warmup;
  probe.timed_accesses = probe.recorded_accesses = timed;
  probe.preparation = Preparation::flushed;
  return probe;
}

inline std::vector<std::uint64_t> steps(std::uint64_t count, std::uint64_t stride_bytes) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(i * stride_bytes);
  return offsets;
}

/// Latencies of a lane: its windows without the overhead of the model.
inline std::vector<std::uint32_t> latencies(const Trace& trace, const nlohmann::json& model,
                                            std::size_t lane = 0) {
  std::vector<std::uint32_t> cycles = trace.lanes.at(lane).window_cycles;
  for (std::uint32_t& window : cycles) {
    window -= model["clock"]["sink_window_cycles"].get<std::uint32_t>();
  }
  return cycles;
}

/// On a GPU that was opened for this chase alone.
inline std::vector<std::uint32_t> latencies_on(const nlohmann::json& model,
                                               const ChaseProbe& probe) {
  return latencies(open_sim(model)->run(probe), model);
}

inline std::size_t count_at_least(const std::vector<std::uint32_t>& cycles, std::uint32_t least) {
  return static_cast<std::size_t>(std::count_if(
      cycles.begin(), cycles.end(), [least](std::uint32_t value) { return value >= least; }));
}

/// Latencies of up to 4000 accesses of a chase over `offsets` on a shipped model, made quiet.
inline std::vector<std::uint32_t> chase_latencies(std::string_view name,
                                                  const std::vector<std::uint64_t>& offsets,
                                                  std::uint64_t warmup_passes,
                                                  LoadPath path = LoadPath::all_levels) {
  const std::uint64_t length = offsets.size();
  const std::uint64_t timed = std::min<std::uint64_t>(length, 4000);
  return latencies_on(quiet_json(name), chase(offsets, warmup_passes * length, timed, path));
}

/// Accesses of a warm pass over `count` addresses that miss what answers in less than `least`.
inline std::size_t missed(std::string_view name, std::uint64_t count, std::uint64_t stride,
                          std::uint32_t least, LoadPath path = LoadPath::all_levels) {
  return count_at_least(chase_latencies(name, steps(count, stride), 8, path), least);
}

}  // namespace sonde::sim
