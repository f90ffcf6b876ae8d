// Reading the memory side of a model file: caches, TLBs, pages, partitions, slices.
#pragma once

#include "device/sim/json_fields.hpp"
#include "device/sim/model.hpp"

namespace sonde::sim {

Scope read_scope(Fields& fields, const std::string& key);
CacheModel read_cache(Fields fields, const DeviceInfo& device);
PageModel read_pages(Fields fields);
Partitions read_partitions(Fields fields);
Slices read_slices(Fields fields);

}  // namespace sonde::sim
