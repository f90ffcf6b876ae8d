// Readers of the sections of a model file; each checks its values and refuses unknown keys.
#pragma once

#include "device/sim/json_fields.hpp"
#include "device/sim/model.hpp"

namespace sonde::sim {

Scope read_scope(Fields& fields, const std::string& key);
CacheModel read_cache(Fields fields, const DeviceInfo& device);
PageModel read_pages(Fields fields);
Partitions read_partitions(Fields fields);
Slices read_slices(Fields fields);
/// Needs the model's caches, pages and partitions.
void read_paths(Fields fields, Model& model);
DramModel read_dram(Fields fields);
ThroughputModel read_throughput(Fields fields);
SharedModel read_shared(Fields fields);
LsuModel read_lsu(Fields fields);

}  // namespace sonde::sim
