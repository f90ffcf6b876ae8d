// Chases over the lines that are left, and the fastest of their passes: an outlier makes no line of
// another slice wait.
#include "jobs/slices/page_slices.hpp"

#include "base/gpu_facts.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace sonde {
namespace {

constexpr std::uint64_t passes_alone = 3;
/// Of every GPC: on an H200 one was too few to make a queue, three were enough.
constexpr std::array co_runners_of_gpc{3, 6, 16};
/// GPCs of most GPUs since 2020.
constexpr std::size_t usual_gpcs = 8;

/// `count` of them, as far from each other as can be.
std::vector<int> spread(const std::vector<int>& sms, std::size_t count) {
  if (sms.size() <= count) return sms;
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sms[i * sms.size() / count]);
  return chosen;
}

}  // namespace

PageChase::PageChase(JobRun& run, const Draw& draw, std::uint64_t buffer_bytes)
    : run_(run),
      setup_(at_draw(set_up_chase(run, LoadPath::atomic, RecordSpace::longest), draw)),
      random_(draw.seed) {
  setup_.buffer_bytes = buffer_bytes;
}

std::vector<double> PageChase::latencies_alone(const Lines& offsets) {
  setup_.co_runners.clear();
  return fastest(offsets, passes_alone);
}

std::vector<double> PageChase::contended_latencies(const Lines& offsets, std::uint64_t own_bytes,
                                                   std::uint64_t passes) {
  setup_.co_runners.clear();
  for (const int sm : sms_) setup_.co_runners.push_back({sm, own_bytes});
  return fastest(offsets, passes);
}

/// Of each line, over the passes of a chase in random order.
std::vector<double> PageChase::fastest(const Lines& offsets, std::uint64_t passes) {
  ChasePlan plan{
      .warm_up = WarmUp::overlapped, .passes = passes, .evidence = Evidence::of_a_search};
  std::vector<std::size_t> order(offsets.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  shuffle(order, random_);
  for (const std::size_t i : order) plan.offsets.push_back(offsets[i]);
  const std::string label = setup_.co_runners.empty()
                                ? fmt::format("slices: page {} alone", setup_.place)
                                : fmt::format("slices: page {}, reductions on {:#x}", setup_.place,
                                              setup_.co_runners.front().offset_bytes);
  const ChaseLatencies chase = measure_chase(run_, setup_, label, plan);
  std::vector<double> latencies(offsets.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    double least = chase.cycles[i];
    for (std::size_t at = i; at < chase.cycles.size(); at += chase.positions) {
      least = std::min(least, chase.cycles[at]);
    }
    latencies[order[i]] = least;
  }
  return latencies;
}

Lines lines_of_page(std::uint64_t page_bytes, std::uint64_t line_bytes) {
  Lines lines;
  for (std::uint64_t at = 0; at < large_page_bytes; at += line_bytes) {
    lines.push_back(page_bytes + at);
  }
  return lines;
}

std::vector<int> choose_co_runners(const std::vector<double>& gpc_of_sm, int sm_count, int prober,
                                   int of_each_gpc) {
  const auto wanted = static_cast<std::size_t>(of_each_gpc);
  std::vector<int> others;
  std::map<double, std::vector<int>> by_gpc;
  for (int sm = 0; sm < sm_count; ++sm) {
    if (sm != prober) others.push_back(sm);
    const auto place = static_cast<std::size_t>(sm);
    if (place < gpc_of_sm.size() && gpc_of_sm[place] >= 0) by_gpc[gpc_of_sm[place]].push_back(sm);
  }
  const auto own = static_cast<std::size_t>(prober);
  if (own >= gpc_of_sm.size() || gpc_of_sm[own] < 0 || by_gpc.size() < 2) {
    return spread(others, wanted * (usual_gpcs - 1));
  }
  std::vector<int> chosen;
  for (const auto& [gpc, sms] : by_gpc) {
    if (gpc == gpc_of_sm[own]) continue;
    for (const int sm : spread(sms, wanted)) chosen.push_back(sm);
  }
  return chosen;
}

PageSlices label_page(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                      const std::vector<double>& gpc_of_sm) {
  PageChase chase(run, draw, large_page_bytes);
  const std::vector<double> alone = chase.latencies_alone(lines_of_page(0, line_bytes));
  PageSlices page{.slices = {}, .prober = draw.sm};
  for (const int of_each_gpc : co_runners_of_gpc) {
    std::vector<int> sms = choose_co_runners(gpc_of_sm, run.info().sm_count, draw.sm, of_each_gpc);
    if (sms.size() == page.co_runners) break;
    page.co_runners = sms.size();
    page.of_each_gpc = of_each_gpc;
    chase.set_co_runner_sms(std::move(sms));
    page.slices = label_lines(alone, [&](const auto& lines, std::size_t own) {
      Lines offsets;
      for (const std::size_t line : lines) offsets.push_back(line * line_bytes);
      return chase.contended_latencies(offsets, own * line_bytes);
    });
    if (page.slices.slices > 0) break;
  }
  return page;
}

}  // namespace sonde
