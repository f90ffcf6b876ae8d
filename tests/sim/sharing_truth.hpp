// What the job sharing must find on a simulated GPU, read off its declaration: who shares which
// cache, and which caches of different paths are one.
#pragma once

#include "sim/hierarchy_truth.hpp"

#include <map>
#include <optional>

namespace sonde::test {

/// A cache of the model under the name that the jobs give it.
struct DeclaredCache {
  std::size_t number = 0;  // in Model::caches
  double hit_cycles = 0;
  double miss_cycles = 0;  // found in the next level
};
using DeclaredCaches = std::map<std::string, DeclaredCache, std::less<>>;

/// The caches of a path before the L2, under these names in their order.
inline void add_path(const sim::Model& model, LoadPath path, const std::vector<std::string>& names,
                     DeclaredCaches& caches) {
  const sim::PathModel* declared = path_of(model, path);
  if (declared == nullptr) return;
  for (std::size_t level = 0; level < declared->caches.size(); ++level) {
    if (model.caches[declared->caches[level]].name == "l2" || level >= names.size()) return;
    const sim::LatencyRow& next =
        level + 1 < declared->caches.size() ? declared->hit[level + 1] : declared->dram;
    caches[names[level]] = {.number = declared->caches[level],
                            .hit_cycles = static_cast<double>(declared->hit[level].front()),
                            .miss_cycles = static_cast<double>(next.front())};
  }
}

inline DeclaredCaches declared_caches(const sim::Model& model) {
  DeclaredCaches caches;
  add_path(model, LoadPath::all_levels, {"l1"}, caches);
  add_path(model, LoadPath::read_only, {"readonly"}, caches);
  add_path(model, LoadPath::texture_1d, {"texture_l1", "texture_l2"}, caches);
  add_path(model, LoadPath::constant, {"constant_l1", "constant_l2", "constant_l3"}, caches);
  std::vector<std::string> code{"instruction_l1", "instruction_l2", "instruction_l3"};
  if (model.device.sm_partition_instruction_caches) code.insert(code.begin(), "instruction_l0");
  add_path(model, LoadPath::instruction, code, caches);
  const sim::PathModel* past = path_of(model, LoadPath::past_l1);
  if (past != nullptr && !past->caches.empty() && model.partitions.count == 1) {
    caches["l2"] = {.number = past->caches.front(),
                    .hit_cycles = static_cast<double>(past->hit.front().front()),
                    .miss_cycles = static_cast<double>(past->dram.front())};
  }
  return caches;
}

/// SMs that are one with SM 0 as seen from a scope.
inline std::vector<int> sms_of_scope(const sim::Die& die, sim::Scope scope) {
  std::vector<int> sms;
  for (std::size_t sm = 0; sm < die.sms.size(); ++sm) {
    const int number = static_cast<int>(sm);
    if (sim::instance_of(die.sms[sm], number, scope) == sim::instance_of(die.sms[0], 0, scope)) {
      sms.push_back(number);
    }
  }
  return sms;
}

/// nullopt: no scope of that name.
inline std::optional<sim::Scope> scope_of(const std::string& text) {
  const std::map<std::string, sim::Scope> scopes{{"sm", sim::Scope::sm},
                                                 {"tpc", sim::Scope::tpc},
                                                 {"gpc", sim::Scope::gpc},
                                                 {"partition", sim::Scope::partition},
                                                 {"device", sim::Scope::device}};
  const auto found = scopes.find(text);
  return found == scopes.end() ? std::nullopt : std::optional(found->second);
}

/// Findings of the cache jobs as they should be.
inline void assume_caches(JobOnSim& sim, const DeclaredCaches& caches) {
  for (const auto& [name, declared] : caches) {
    const sim::CacheModel& cache = sim.truth().caches[declared.number];
    const std::string prefix = "cache." + name + ".";
    sim.assume(prefix + "size_bytes", size_of(cache, chosen_carveout(sim)));
    sim.assume(prefix + "line_bytes", static_cast<double>(cache.line_bytes));
    sim.assume(prefix + "hit_latency_cycles", declared.hit_cycles);
    sim.assume(prefix + "miss_latency_cycles", declared.miss_cycles);
  }
  for (const char* name :
       {"l1", "readonly", "texture_l1", "texture_l2", "constant_l1", "constant_l2", "constant_l3",
        "instruction_l0", "instruction_l1", "instruction_l2", "instruction_l3", "l2"}) {
    if (caches.contains(name)) continue;
    sim.assume(not_present("cache." + std::string(name) + ".size_bytes", "not declared"));
  }
}

inline void assume_groups(JobOnSim& sim, const sim::Die& die) {
  std::vector<double> tpcs, gpcs;
  for (const sim::SmPlace& place : die.sms) {
    tpcs.push_back(place.tpc);
    gpcs.push_back(place.gpc);
  }
  sim.assume("topology.tpc_of_sm", tpcs);
  sim.assume("topology.gpc_of_sm", gpcs);
}

/// Answers of the job sharing against the truth.
struct SharingScore {
  int right = 0;
  int unresolved = 0;
  std::vector<std::string> wrong = {};

  void add(const std::string& metric, bool is_right, const std::string& found) {
    if (is_right) {
      ++right;
    } else {
      wrong.push_back(metric + " is " + found);
    }
  }
};

inline void score_scopes(const JobOnSim& sim, const sim::Die& die, const DeclaredCaches& caches,
                         SharingScore& score) {
  for (const auto& [name, declared] : caches) {
    const sim::Scope scope = sim.truth().caches[declared.number].scope;
    const std::vector<int> sms = sms_of_scope(die, scope);
    const Finding& text = sim.find("sharing." + name + ".scope");
    if (text.status == Status::ok) {
      const std::string& value = std::get<std::string>(text.value);
      const auto said = scope_of(value);
      score.add(text.metric, said && sms_of_scope(die, *said) == sms, value);
    } else {
      ++score.unresolved;
    }
    const Finding& count = sim.find("sharing." + name + ".sms");
    if (count.status == Status::ok) {
      const double value = std::get<double>(count.value);
      score.add(count.metric, value == static_cast<double>(sms.size()), std::to_string(value));
    } else {
      ++score.unresolved;
    }
  }
}

inline void score_arrays(const JobOnSim& sim, const DeclaredCaches& caches, SharingScore& score) {
  const auto number_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = caches.find(name);
    return found == caches.end() ? std::nullopt : std::optional(found->second.number);
  };
  const auto judge = [&](const std::string& metric, const std::string& truth) {
    const Finding& finding = sim.find(metric);
    if (finding.status != Status::ok) {
      ++score.unresolved;
      return;
    }
    const std::string& value = std::get<std::string>(finding.value);
    score.add(metric, value == truth, value + " and not " + truth);
  };
  const std::pair<const char*, const char*> pairs[]{
      {"l1", "readonly"},    {"l1", "texture_l1"},        {"readonly", "texture_l1"},
      {"l1", "constant_l1"}, {"readonly", "constant_l1"}, {"texture_l1", "constant_l1"}};
  for (const auto& [one, other] : pairs) {
    if (!number_of(one) || !number_of(other)) continue;
    judge(std::string("sharing.") + one + "_" + other,
          number_of(one) == number_of(other) ? "yes" : "no");
  }
  for (const std::string constants : {"constant_l1", "constant_l2", "constant_l3"}) {
    if (!number_of(constants) || !path_of(sim.truth(), LoadPath::instruction)) continue;
    std::string truth = "no";
    for (const char* code :
         {"instruction_l0", "instruction_l1", "instruction_l2", "instruction_l3"}) {
      if (number_of(code) && number_of(code) == number_of(constants)) truth = code;
    }
    judge("sharing." + constants + "_code", truth);
  }
}

}  // namespace sonde::test
