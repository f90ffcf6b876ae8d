// Which SMs share a cache, a TLB or a clock, and which paths share one cache, as a model declares
// it.
#include "sim/score/declared_suite.hpp"

#include <algorithm>

namespace sonde::test {
namespace {

using Values = std::vector<DeclaredValue>;

constexpr std::pair<const char*, sim::Scope> scopes[] = {{"sm", sim::Scope::sm},
                                                         {"tpc", sim::Scope::tpc},
                                                         {"gpc", sim::Scope::gpc},
                                                         {"partition", sim::Scope::partition},
                                                         {"device", sim::Scope::device}};

/// SMs that share with SM 0.
std::vector<int> sharers(const sim::Die& die, sim::Scope scope) {
  std::vector<int> sms;
  for (int sm = 0; sm < static_cast<int>(die.sms.size()); ++sm) {
    const bool shares = sim::instance_of(die.sms[static_cast<std::size_t>(sm)], sm, scope) ==
                        sim::instance_of(die.sms[0], 0, scope);
    if (shares) sms.push_back(sm);
  }
  return sms;
}

/// Names of all scopes that make the same of this die.
OneOf names_of(const sim::Die& die, sim::Scope scope) {
  OneOf names;
  for (const auto& [name, other] : scopes) {
    if (sharers(die, other) == sharers(die, scope)) names.texts.push_back(name);
  }
  return names;
}

/// Whether nothing tells the name, though the SMs that share are known: it is that of GPCs, which
/// nothing shows (the number of those SMs is another value).
bool is_beyond_sight(const OneOf& names, const sim::Model& model) {
  return !shows_gpcs(model) && std::ranges::all_of(names.texts, [](const std::string& name) {
    return name == "gpc" || name == "partition";
  });
}

constexpr const char* shared_caches[] = {"l1",
                                         "readonly",
                                         "texture_l1",
                                         "texture_l2",
                                         "constant_l1",
                                         "constant_l2",
                                         "constant_l3",
                                         "instruction_l0",
                                         "instruction_l1",
                                         "instruction_l2",
                                         "instruction_l3"};

void declare_scopes(Values& values, const sim::Model& model, const sim::Die& die,
                    const NamedCaches& names) {
  for (const std::string name : shared_caches) {
    const auto found = names.find(name);
    if (found == names.end()) {
      values.push_back({"sharing." + name + ".scope", Absent{}});
      values.push_back({"sharing." + name + ".sms", Absent{}});
      continue;
    }
    const sim::Scope scope = model.caches[found->second].scope;
    const OneOf scope_names = names_of(die, scope);
    values.push_back({.metric = "sharing." + name + ".scope",
                      .value = scope_names,
                      .excluded = is_beyond_sight(scope_names, model)});
    values.push_back({"sharing." + name + ".sms", static_cast<double>(sharers(die, scope).size())});
  }
}

void declare_arrays(Values& values, const NamedCaches& names) {
  const std::pair<const char*, const char*> pairs[]{
      {"l1", "readonly"},    {"l1", "texture_l1"},        {"readonly", "texture_l1"},
      {"l1", "constant_l1"}, {"readonly", "constant_l1"}, {"texture_l1", "constant_l1"}};
  for (const auto& [one, other] : pairs) {
    const auto first = names.find(one);
    const auto second = names.find(other);
    if (first == names.end() || second == names.end()) continue;
    const char* truth = first->second == second->second ? "yes" : "no";
    values.push_back({std::string("sharing.") + one + "_" + other, OneOf{{truth}}});
  }
  for (const std::string constants : {"constant_l1", "constant_l2", "constant_l3"}) {
    const auto cache = names.find(constants);
    const bool has_code = names.contains("instruction_l1") || names.contains("instruction_l0");
    if (cache == names.end() || !has_code) continue;
    OneOf truth{{"no"}};
    for (const auto& [name, number] : names) {
      if (name.starts_with("instruction") && number == cache->second) truth = {{name}};
    }
    values.push_back({"sharing." + constants + "_code", truth});
  }
}

/// The first TLBs; docs/methods/tlb.md.
void declare_tlb_scopes(Values& values, const sim::Model& model, const sim::Die& die) {
  constexpr const char* names[] = {"tlb.l1.scope", "tlb.l2.scope", "tlb.l3.scope"};
  for (std::size_t level = 0; level < std::size(names); ++level) {
    if (level < model.pages.tlbs.size()) {
      values.push_back({names[level], names_of(die, model.pages.tlbs[level].scope)});
    } else {
      values.push_back({names[level], Absent{}});
    }
  }
}

}  // namespace

void declare_sharing(Values& values, const sim::Model& model, const sim::Die& die) {
  const NamedCaches names = name_caches(model);
  declare_scopes(values, model, die, names);
  declare_arrays(values, names);
  declare_tlb_scopes(values, model, die);
  const bool is_either = sharers(die, model.clock.scope).size() == 3;  // a TPC or a GPC
  values.push_back(
      {.metric = "clock.scope", .value = names_of(die, model.clock.scope), .excluded = is_either});
}

}  // namespace sonde::test
