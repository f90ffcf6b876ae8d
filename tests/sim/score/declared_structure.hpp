// What the jobs on caches and TLBs ought to report of a model: every structural value that its file
// declares, in the words of the metrics.
#pragma once

#include "device/sim/model/model.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sonde::test {

/// No such thing is there, or no load could show it.
struct Absent {};

struct DeclaredIndex {
  sim::DeclaredIndex function;
  std::uint32_t sets = 0;
  std::uint64_t line_bytes = 0;
};

struct DeclaredPolicy {
  sim::DeclaredPolicy policy = sim::DeclaredPolicy::lru;
  std::vector<std::uint32_t> ways_per_set;
};

/// Chances of the ways to be the victim; where sets are of different width any of them may be
/// meant.
struct DeclaredChances {
  std::vector<std::vector<double>> by_width;
};

/// A number from one to the other, both included: what SMs differ by, and what noise leaves.
struct DeclaredRange {
  double low = 0;
  double high = 0;
};

/// Texts of which any is right.
struct OneOf {
  std::vector<std::string> texts;
};

using Declared = std::variant<Absent, double, std::vector<double>, DeclaredIndex, DeclaredPolicy,
                              DeclaredChances, DeclaredRange, OneOf>;

struct DeclaredValue {
  std::string metric;
  Declared value;
  /// It is there, and no load can show it: "not resolvable" is right.
  bool excluded = false;
};

/// Size, line, sets and the rest of one cache.
/// @param name of its metrics: "cache.l1"
/// @param cache nullptr: absent
/// @param asked_bytes what the caches before it ask for at a time; 0: there are none
void declare_cache(std::vector<DeclaredValue>& values, const std::string& name,
                   const sim::CacheModel* cache, std::uint64_t carveout_bytes,
                   std::uint64_t asked_bytes = 0);

/// nullptr: the model has no such path.
inline const sim::PathModel* path_of(const sim::Model& model, LoadPath path) {
  const auto& declared = model.paths[static_cast<std::size_t>(path)];
  return declared ? &*declared : nullptr;
}

/// The first cache of a path; nullptr if that is the L2, or there is none.
const sim::CacheModel* first_cache_of(const sim::Model& model, LoadPath path);

/// Caches of loads and the L2, and the TLBs.
/// @param chosen_carveout_bytes the shared part co_resident which caches were measured
/// @param recordable_carveouts_bytes all shared parts that hold a record
std::vector<DeclaredValue> declared_values(
    const sim::Model& model, std::uint64_t chosen_carveout_bytes,
    const std::vector<std::uint64_t>& recordable_carveouts_bytes);

}  // namespace sonde::test
