// Draws of the load paths of a random GPU and of what each outcome takes.
#include "support/random_plan.hpp"

#include <algorithm>

namespace sonde::test {
namespace {

using nlohmann::json;

/// Cycles by who serves a load, translation at hand, and what the translation adds.
struct Latencies {
  std::uint64_t l1 = 0;
  std::uint64_t readonly = 0;
  std::uint64_t l2 = 0;
  std::uint64_t far = 0;
  std::uint64_t dram = 0;
  std::vector<std::uint64_t> tlb_hits;  // of each level: the first costs nothing
  std::vector<std::uint64_t> walks;     // cached, cold, of another window
};

void draw_within(Draws& draws, const CycleSpans& spans, Latencies& cycles) {
  const auto draw = [&](Span span) { return draws.between(span.least, span.most); };
  cycles.l1 = cycles.readonly = draw(spans.l1);
  cycles.l2 = draw(spans.l2);
  cycles.far = cycles.l2 + draw(spans.far_more);
  cycles.dram = cycles.l2 + draw(spans.dram_more);
}

Latencies draw_latencies(Draws& draws, const Plan& plan) {
  Latencies cycles;
  cycles.l1 = draws.between(20, 120);
  cycles.readonly = draws.between(20, 120);
  const std::uint64_t first = std::max(cycles.l1, cycles.readonly);
  draws.between(30, 80);  // of a level that is drawn no more, so that seeds keep the others
  cycles.l2 = draws.between(std::max<std::uint64_t>(150, 40 + first), 350);
  cycles.far = cycles.l2 + draws.between(60, 200);
  draws.between(80, 200);  // likewise
  cycles.dram = (plan.has_halves ? cycles.far : cycles.l2) + draws.between(100, 400);
  if (plan.cycles) draw_within(draws, *plan.cycles, cycles);
  const Span tlb = plan.cycles ? plan.cycles->tlb : Span{8, 60};
  std::uint64_t more = 0;
  for (std::size_t level = 0; level < plan.tlbs.size(); ++level) {
    cycles.tlb_hits.push_back(more);
    more += draws.between(tlb.least, tlb.most);
  }
  draws.between(20, 60);  // likewise
  const std::uint64_t cached = more + draws.between(30, 150);
  const std::uint64_t cold = cached + draws.between(60, 1500);
  cycles.walks = {cached, cold};
  if (plan.window_bytes > 0) cycles.walks.push_back(cold + draws.between(100, 500));
  return cycles;
}

/// A cache on a path, and how long its hits take there.
struct Stop {
  std::string cache;
  std::uint64_t cycles = 0;
};

class PathWriter {
 public:
  PathWriter(const Plan& plan, const Latencies& latencies, const json& caches)
      : plan_(plan), latencies_(latencies), caches_(caches) {}

  /// Global memory.
  json translated(std::vector<Stop> first, const std::vector<std::string>& tlbs) const {
    json path = describe(std::move(first), Behind::l2, [&](std::uint64_t cycles) {
      json row;
      for (std::size_t level = 0; level < tlbs.size(); ++level) {
        row["tlb_" + tlbs[level] + "_hit"] =
            cycles + latencies_.tlb_hits[std::min(level, latencies_.tlb_hits.size() - 1)];
      }
      static constexpr std::array names{"walk_cached", "walk_cold", "window_switch"};
      for (std::size_t i = 0; i < latencies_.walks.size(); ++i) {
        row[names[i]] = cycles + latencies_.walks[i];
      }
      return row;
    });
    if (tlbs != plan_.tlbs) path["tlbs"] = tlbs;
    return path;
  }

  enum class Behind { l2, memory };
  /// Constants and code.
  json plain(std::vector<Stop> first, Behind behind) const {
    return describe(std::move(first), behind, [](std::uint64_t cycles) { return json(cycles); });
  }

 private:
  bool is_virtual(const std::string& name) const {
    return std::ranges::any_of(caches_, [&](const json& cache) {
      return cache["name"] == name && cache["addressing"] == "virtual";
    });
  }

  /// The rest of the way behind the path's own caches.
  template <class Row>
  json describe(std::vector<Stop> stops, Behind behind, Row row) const {
    const std::uint64_t before = stops.empty() ? 0 : stops.back().cycles;
    // What lies behind a slow last cache is slower still.
    const std::uint64_t late = before + 40 > latencies_.l2 ? before + 40 - latencies_.l2 : 0;
    if (behind == Behind::l2 && plan_.has_l2) stops.push_back({"l2", latencies_.l2 + late});
    json by_server;
    json names = json::array();
    for (const Stop& stop : stops) {
      names.push_back(stop.cache);
      by_server[stop.cache] = is_virtual(stop.cache) ? json(stop.cycles) : row(stop.cycles);
    }
    by_server["dram"] = row(latencies_.dram + late);
    if (plan_.has_halves) {
      by_server["far"] = row(latencies_.far + late);
      by_server["dram_far"] = row(latencies_.dram + late + latencies_.far - latencies_.l2);
    }
    return {{"caches", names}, {"latency_cycles", by_server}};
  }

  const Plan& plan_;
  const Latencies& latencies_;
  const json& caches_;
};

/// Each takes so much longer than the one before.
std::vector<Stop> draw_stops(Draws& draws, const std::vector<std::string>& names,
                             Span first_cycles = {20, 60}) {
  std::vector<Stop> stops;
  std::uint64_t cycles = draws.between(first_cycles.least, first_cycles.most);
  for (const std::string& name : names) {
    stops.push_back({name, cycles});
    cycles += draws.between(30, 100);
  }
  return stops;
}

}  // namespace

json draw_paths(std::uint64_t seed, const Plan& plan, const json& caches) {
  Draws draws(seed, "paths");
  const Latencies latencies = draw_latencies(draws, plan);
  const PathWriter writer(plan, latencies, caches);
  const auto load_path = [&](const char* first, std::uint64_t cycles) {
    std::vector<Stop> stops;
    if (first != nullptr) stops.push_back({first, cycles});
    return writer.translated(stops, plan.tlbs);
  };
  const char* l1 = plan.has_l1 ? "l1" : nullptr;
  const char* readonly = plan.has_readonly ? "readonly" : l1;
  const std::uint64_t readonly_cycles = plan.has_readonly ? latencies.readonly : latencies.l1;
  json paths{{"ca", load_path(l1, latencies.l1)},
             {"cg", load_path(nullptr, 0)},
             {"cv", load_path(nullptr, 0)},
             {"nc", load_path(readonly, readonly_cycles)}};
  if (draws.chance(0.5)) paths["atomic"] = load_path(nullptr, 0);
  if (!plan.texture.empty() || draws.chance(0.5)) {
    const auto& tlbs = plan.texture_tlbs.empty() ? plan.tlbs : plan.texture_tlbs;
    paths["texture_1d"] =
        writer.translated(draw_stops(draws, plan.texture, plan.texture_cycles), tlbs);
    paths["texture_2d"] = paths["texture_1d"];
    paths["texture_2d"]["tile"] = {{"width_bytes", draws.pick({32, 64, 128})},
                                   {"rows", draws.pick({1, 2, 4})}};
  }
  using Behind = PathWriter::Behind;
  const auto plain = [&](const std::vector<std::string>& names) {
    const Behind behind = draws.chance(0.8) ? Behind::l2 : Behind::memory;
    return writer.plain(draw_stops(draws, names), behind);
  };
  if (!plan.constant.empty()) paths["constant"] = plain(plan.constant);
  if (!plan.code.empty()) paths["instruction"] = plain(plan.code);
  return paths;
}

}  // namespace sonde::test
