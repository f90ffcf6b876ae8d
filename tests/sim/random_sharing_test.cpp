// GPUs whose caches have drawn scopes, sizes and policies, and paths that share arrays or not: the
// job sharing says what is declared, or that it cannot tell. None may be wrong.
#include "base/random.hpp"
#include "device/sim/model/model_files.hpp"
#include "sim/sharing_truth.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <iostream>

namespace sonde::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t gpus_of_a_shard = 12;
// Of all answers; what a policy that protects old lines hides of pairs stays unresolved.
constexpr double least_right_share = 0.94;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(derive_seed(seed, "random sharing")) {}

  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + random_.below(most - least + 1);
  }
  bool chance(double probability) {
    return static_cast<double>(random_.below(1000)) < 1000 * probability;
  }
  template <class T>
  T pick(const std::vector<T>& values) {
    return values[random_.below(values.size())];
  }

 private:
  Random random_;
};

json draw_chip(Draws& draws) {
  for (;;) {
    const std::uint64_t gpcs = draws.between(1, 5);
    const std::uint64_t tpcs = draws.between(1, 5);
    const std::uint64_t sms = draws.between(1, 3);
    const std::uint64_t all = gpcs * tpcs * sms;
    // Without known groups a GPC of few SMs looks like a TPC, and no GPU has one.
    if (all < 4 || all > 40 || tpcs * sms <= 3) continue;
    return {{"gpcs", gpcs},
            {"tpcs_per_gpc", tpcs},
            {"sms_per_tpc", sms},
            {"numbering", draws.pick<std::string>({"tpc_major", "round_robin"})}};
  }
}

/// At least as wide as `inner`.
std::string draw_scope(Draws& draws, const std::string& inner) {
  const std::vector<std::string> scopes{"sm", "tpc", "gpc", "device"};
  const auto first = std::ranges::find(scopes, inner);
  return draws.pick(std::vector<std::string>(first, scopes.end()));
}

json draw_cache(Draws& draws, const std::string& name, const std::string& scope,
                std::uint64_t line_bytes, std::uint64_t set_bits, std::uint64_t ways) {
  const int low_bit = std::countr_zero(line_bytes);
  return {{"name", name},
          {"scope", scope},
          {"addressing", "virtual"},
          {"line_bytes", line_bytes},
          {"sets", 1 << set_bits},
          {"ways", ways},
          {"index", {{"kind", "bit_field"}, {"low_bit", low_bit}, {"bits", set_bits}}},
          {"replacement",
           draws.pick<std::string>({"lru", "lru", "fifo", "nru", "random", "srrip", "brrip"})},
          {"write_policy", {{"hit", "ignore"}, {"miss", "no_allocate"}}},
          {"jitter_cycles", 0.3}};
}

/// Three levels of constants, behind each other, and code that shares some of them.
void draw_banks(Draws& draws, json& model) {
  std::string scope = draw_scope(draws, "sm");
  const std::string code_scope = scope;
  model["caches"].push_back(draw_cache(draws, "constant_l1", scope, 64, draws.between(2, 3),
                                       draws.between(3, 6)));  // 0.75 to 3 KiB
  model["caches"].push_back(
      draw_cache(draws, "instruction_l1", code_scope, 128, 3, draws.between(2, 4)));
  scope = draw_scope(draws, scope);
  const std::uint64_t ways = draws.between(4, 6);
  model["caches"].push_back(draw_cache(draws, "constant_l2", scope, 256, 3, ways));
  model["caches"].push_back(draw_cache(draws, "instruction_l2", scope, 256, 3, ways));
  scope = draw_scope(draws, scope);
  model["caches"].push_back(draw_cache(draws, "constant_l3", scope, 256, 4, draws.between(8, 10)));
  model["caches"].push_back(
      draw_cache(draws, "instruction_l3", scope, 256, 4, draws.between(8, 10)));
  const std::string second = draws.chance(0.5) ? "constant_l2" : "instruction_l2";
  const std::string third = draws.chance(0.5) ? "constant_l3" : "instruction_l3";
  model["paths"]["constant"] = {
      {"caches", {"constant_l1", "constant_l2", "constant_l3"}},
      {"latency_cycles",
       {{"constant_l1", 10}, {"constant_l2", 80}, {"constant_l3", 200}, {"dram", 450}}}};
  model["paths"]["instruction"] = {
      {"caches", {"instruction_l1", second, third}},
      {"latency_cycles", {{"instruction_l1", 40}, {second, 120}, {third, 260}, {"dram", 500}}}};
}

void add_first_cache(json& model, const std::string& path, const std::string& cache,
                     std::uint64_t hit_cycles) {
  json declared = model["paths"]["cg"];
  declared["caches"] = {cache};
  declared["latency_cycles"][cache] = hit_cycles;
  model["paths"][path] = declared;
}

/// First caches of plain and read-only loads and of textures: one, two or three arrays.
void draw_first_caches(Draws& draws, json& model) {
  const std::string scope = draws.pick<std::string>({"sm", "sm", "tpc"});
  const std::uint64_t ways = draws.between(4, 12);
  for (const char* name : {"array_a", "array_b", "array_c"}) {
    model["caches"].push_back(draw_cache(draws, name, scope, draws.chance(0.5) ? 32 : 128, 4,
                                         draws.chance(0.7) ? ways : 2 * ways));
  }
  const std::vector<std::string> arrays{"array_a", "array_b", "array_c"};
  add_first_cache(model, "ca", draws.pick(arrays), 60);
  add_first_cache(model, "nc", draws.pick(arrays), 70);
  add_first_cache(model, "texture_1d", draws.pick(arrays), 90);
}

/// A GTX 280 with another chip and other caches.
json draw_gpu(Draws& draws) {
  const auto shipped = std::ranges::find(sim::shipped_models(), "gtx280", &sim::ShippedModel::name);
  json model = json::parse(shipped->json);
  model["chip"] = draw_chip(draws);
  model["clock"]["scope"] = "sm";
  model["caches"] = json::array();
  model["pages"].erase("path_tlbs");
  model["paths"] = {{"cg", model["paths"]["cg"]}};
  draw_banks(draws, model);
  draw_first_caches(draws, model);
  return model;
}

class RandomSharingTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomSharingTest, none_is_wrong) {
  SharingScore all;
  for (std::uint64_t i = 0; i < gpus_of_a_shard; ++i) {
    const std::uint64_t seed = 100 * GetParam() + i;
    Draws draws(seed);
    const std::string path =
        testing::TempDir() + "random_sharing_" + std::to_string(seed) + ".json";
    std::ofstream(path) << draw_gpu(draws);
    JobOnSim sim(path, seed);
    const sim::Die die = sim::make_die(sim.truth(), {}, sim::die_seed(seed, 0));
    const DeclaredCaches caches = declared_caches(sim.truth());
    assume_caches(sim, caches);
    if (draws.chance(0.7)) assume_groups(sim, die);

    sim.run("sharing");

    SharingScore score;
    score_scopes(sim, die, caches, score);
    score_arrays(sim, caches, score);
    EXPECT_THAT(score.wrong, testing::IsEmpty()) << "seed " << seed;
    all.right += score.right;
    all.unresolved += score.unresolved;
  }
  std::cout << all.right << " right, " << all.unresolved << " unresolved\n";
  EXPECT_GE(all.right, least_right_share * (all.right + all.unresolved));
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomSharingTest, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace sonde::test
