// From the JSON text of a model to its struct: the whole (model_reader.cpp), and its sections on
// caches and pages (cache_reader.cpp, index_reader.cpp, slice_reader.cpp), load paths
// (path_reader.cpp) and units (units.hpp). Each checks its values and refuses unknown keys.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/memory_budget.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

/// The JSON of a model file after its `base` (merged by RFC 7396) and each path's `like` are filled
/// in.
/// @throws ConfigError as parse_model
nlohmann::json read_whole(const std::string& text, const std::string& origin);

/// A model from JSON text; `origin` names it in errors. @throws ConfigError naming key and why
Model parse_model(const std::string& text, const std::string& origin);

Scope read_scope(Fields& fields, const std::string& key);
DeclaredIndex read_index(Fields& fields);
/// @throws ConfigError if the index reaches beyond so many sets, which would be read outside the
/// arrays
void check_index(const Fields& fields, const DeclaredIndex& index, std::size_t sets);
/// Needs the model's device and chip.
CacheModel read_cache(Fields& fields, const Model& model, MemoryBudget& budget);
PageModel read_pages(Fields& fields, const DeviceInfo& device, MemoryBudget& budget);
Partitions read_partitions(Fields& fields);
Slices read_slices(Fields& fields);

/// Of what has no slices of its own: TLBs and the slices themselves.
/// @throws ConfigError if the index needs them
void refuse_slices(const Fields& fields, const std::string& key, const DeclaredIndex& index);

/// Where a cache has its sets in slices, those must be there. @throws ConfigError if not
void check_sliced_sets(const Fields& fields, const CacheModel& cache,
                       const std::optional<Slices>& slices);
/// Needs the model's caches, pages and partitions.
PathModels read_paths(Fields& fields, const Model& model);

}  // namespace sonde::sim
