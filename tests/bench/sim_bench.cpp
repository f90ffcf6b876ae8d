// How fast simulated GPUs play: accesses per second of processor time, by model, load path and span
// of a walk in random order. Run as `sim_bench [accesses [model]]`.
#include "base/random.hpp"
#include "device/sim/shipped_models.hpp"
#include "device/sim/sim_device.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace sonde::sim {
namespace {

constexpr std::uint64_t step_bytes = 128;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

/// Spans that stay in a near cache, in a far one, and in none.
std::vector<std::uint64_t> spans_of(LoadPath path) {
  if (path == LoadPath::constant) return {2 * kib, constant_bank_bytes};
  if (path == LoadPath::instruction) return {4 * kib, mib};
  return {8 * kib, mib, 20 * mib, 200 * mib};
}

/// Lines of the span drawn at random; the first half of the accesses warm up.
ChaseProbe random_walk(LoadPath path, std::uint64_t span_bytes, std::uint64_t accesses) {
  ChaseProbe probe;
  probe.path = path;
  probe.buffer_bytes = span_bytes;
  probe.lanes.resize(1);
  probe.warmup_accesses = accesses / 2;
  probe.timed_accesses = accesses - probe.warmup_accesses;
  Random random(span_bytes);
  const std::uint64_t lines = span_bytes / step_bytes;
  for (std::uint64_t i = 0; i < std::min(lines, accesses); ++i) {
    probe.lanes[0].offsets_bytes.push_back(random.below(lines) * step_bytes);
  }
  return probe;
}

/// Of processor time, which other programs on the machine disturb less than time on the wall.
double accesses_per_second(Device& device, const ChaseProbe& probe) {
  const std::clock_t begin = std::clock();
  device.run(probe);
  const double took_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return static_cast<double>(probe.warmup_accesses + probe.timed_accesses) / took_s;
}

void bench_model(std::string_view name, std::uint64_t accesses) {
  const Model model = load_model(std::string(name));
  SimDevice device(FaultyModel{model, {}}, die_seed(1, 0));
  for (std::size_t i = 0; i < load_path_count; ++i) {
    if (!model.paths[i]) continue;
    const auto path = static_cast<LoadPath>(i);
    for (std::uint64_t span_bytes : spans_of(path)) {
      const ChaseProbe probe = random_walk(path, span_bytes, accesses);
      fmt::print("{:<12} {:<12} {:>8} KiB {:>7.1f} M/s\n", name, to_text(path), span_bytes / kib,
                 accesses_per_second(device, probe) / 1e6);
    }
  }
}

}  // namespace
}  // namespace sonde::sim

int main(int argc, char** argv) {
  std::uint64_t accesses = 4'000'000;
  if (argc > 1) {
    const std::string_view text = argv[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), accesses);
    if (error != std::errc{} || end != text.data() + text.size() || accesses < 2) {
      fmt::print(stderr, "'{}' is no number of accesses (at least 2) call sim_bench 4000000\n",
                 text);
      return 2;
    }
  }
  for (const sonde::sim::ShippedModel& shipped : sonde::sim::shipped_models()) {
    if (argc < 3 || shipped.name == argv[2]) sonde::sim::bench_model(shipped.name, accesses);
  }
}
