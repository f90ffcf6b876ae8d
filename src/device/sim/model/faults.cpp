// Reads the faults on the command line.
#include "device/sim/model/faults.hpp"

#include "base/error.hpp"
#include "device/sim/model/model_files.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sonde::sim {
namespace {

constexpr std::uint64_t most_launches = 1ULL << 40;

// Clearly below the clocks of GPUs in service, which kept up 0.79 to 1 of the highest clock.
constexpr double default_throttle = 0.7;

[[noreturn]] void refuse(std::string_view fault, const std::string& why);

/// A fault as it is written: name, name=first or name=first:second.
struct Written {
  explicit Written(std::string_view fault) : text(fault), name(fault.substr(0, fault.find('='))) {
    if (name.size() == fault.size()) return;
    const std::string_view value = fault.substr(name.size() + 1);
    first = value.substr(0, value.find(':'));
    if (first->size() < value.size()) second = value.substr(first->size() + 1);
  }

  template <class Number>
  Number number(std::optional<std::string_view> digits, Number least, Number most) const {
    const std::string_view given = digits.value_or("");
    Number value{};
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    const bool is_number = error == std::errc{} && end == given.data() + given.size();
    if (!is_number || !(value >= least && value <= most)) refuse("has no number in range");
    return value;
  }
  /// The number of a part, below `count`.
  int part(int count) const { return number(first, 0, count - 1); }
  std::uint64_t launch(std::optional<std::string_view> digits) const {
    return number<std::uint64_t>(digits, 1, most_launches);
  }
  double factor() const { return number(first, 0.01, 1.0); }
  double share() const { return number(second, 0.01, 1.0); }

  [[noreturn]] void refuse(const std::string& why) const { sim::refuse(text, why); }

  std::string_view text;
  std::string_view name;
  std::optional<std::string_view> first;
  std::optional<std::string_view> second;
};

const HostModel& host_of(const Written& fault, const Model& model) {
  if (!model.units.host) fault.refuse("needs a model that declares the link to the host");
  return *model.units.host;
}

// How many parts of a kind a model has: the limit of the number in a fault.

int sms(const Written&, const Model& model) { return model.device.sm_count; }
int tpcs(const Written&, const Model& model) { return model.chip.enabled_tpcs; }
int slices(const Written& fault, const Model& model) {
  if (!model.slices) fault.refuse("needs a model that declares slices");
  return model.slices->count * model.partitions.count;
}
int ranks(const Written& fault, const Model& model) {
  if (!model.units.peer) fault.refuse("needs a model that declares the links to its peers");
  return 1 << 20;  // the most of a run
}
int lanes(const Written& fault, const Model& model) { return host_of(fault, model).pcie_width; }
int generations(const Written& fault, const Model& model) {
  return host_of(fault, model).pcie_generation;
}
int nvlinks(const Written& fault, const Model& model) { return host_of(fault, model).nvlinks; }
int any(const Written& fault, const Model& model) { return host_of(fault, model), 1'000'000; }

/// The first cache of plain loads. Refuses the fault unless each SM has such a cache of its own,
/// with two ways or more.
const CacheModel& first_cache(const Written& fault, const Model& model) {
  const auto& path = model.paths[static_cast<std::size_t>(LoadPath::all_levels)];
  if (path && !path->caches.empty()) {
    const CacheModel& cache = model.caches[path->caches.front()];
    const auto has_ways = [](const Geometry& geometry) {
      return *std::ranges::min_element(geometry.ways_per_set) > 1;
    };
    if (cache.scope == Scope::sm && std::ranges::all_of(cache.geometries, has_ways)) return cache;
  }
  fault.refuse("needs a model whose SMs have an L1 of their own with two ways at least");
}

void lose_way(const Written& fault, const Model& model, Faults& faults) {
  const std::size_t sets = first_cache(fault, model).geometries.front().ways_per_set.size();
  LostWay lost{.sm = fault.part(sms(fault, model)), .set = {}};
  if (fault.second) lost.set = fault.number(fault.second, 0U, static_cast<std::uint32_t>(sets) - 1);
  faults.lost_ways.push_back(lost);
}

void drop_clock(const Written& fault, const Model&, Faults& faults) {
  faults.clock_drop_launch = fault.launch(fault.first);
  faults.clock_drop_factor = fault.second ? fault.share() : default_throttle;
}

void log_xid(const Written& fault, const Model& model, Faults& faults) {
  const int code = fault.number(fault.first, 1, any(fault, model));
  const bool is_new = fault.name == "new_xid";
  faults.xids.push_back({.code = code, .launch = is_new ? fault.launch(fault.second) : 0});
}

void add_neighbour(const Written& fault, const Model&, Faults& faults) {
  faults.neighbour.emplace();
  if (fault.first) faults.neighbour->share = fault.number(fault.first, 0.01, 0.99);
  if (fault.second) {
    faults.neighbour->launch = fault.launch(fault.second);
  }
}

using Parts = int (*)(const Written& fault, const Model& model);

/// What a fault sets, in this order: a launch or a count; a factor; a number from 1 to `parts`; a
/// slow part; a part and its share; the number of a part; or what a function of its own sets.
using Target =
    std::variant<std::uint64_t Faults::*, double Faults::*, int Faults::*,
                 std::vector<SlowPart> Faults::*, std::vector<SharedPart> Faults::*,
                 std::vector<int> Faults::*, void (*)(const Written&, const Model&, Faults&)>;

struct FaultKind {
  std::string_view name;
  std::string_view value;  // what follows the name; [] may be left out
  Target target;
  Parts parts = nullptr;
};

constexpr FaultKind fault_kinds[] = {
    {"slow_sm", "=SM:cycles", &Faults::slow_sms, sms},
    {"slow_slice", "=slice:cycles", &Faults::slow_slices, slices},
    {"slow_tpc", "=TPC:share", &Faults::slow_tpcs, tpcs},
    {"lost_way", "=SM[:set]", lose_way},
    {"peer_lanes", "=rank:share", &Faults::lost_lanes, ranks},
    {"low_bandwidth", "=factor", &Faults::bandwidth_factor},
    {"bandwidth_dip", "=factor", &Faults::bandwidth_dip_factor},
    {"throttle", "[=factor]", &Faults::clock_factor},
    {"clock_drop", "=launch[:factor]", drop_clock},
    {"clock_sink", "=factor", &Faults::clock_sink_factor},
    {"hang", "=launch", &Faults::hang_launch},
    {"sticky", "=launch", &Faults::sticky_launch},
    {"gone", "=launch", &Faults::gone_launch},
    {"crash", "=launch", &Faults::crash_launch},
    {"launch_failure", "=launch", &Faults::failing_launch},
    {"nan", "=launch", &Faults::nan_launch},
    {"wrong_data", "[=period]", &Faults::wrong_data_period},
    {"ecc", "=count", &Faults::ecc_corrected},
    {"ecc_rising", "=launch", &Faults::ecc_rising_launch},
    {"host_width", "=lanes", &Faults::host_width, lanes},
    {"host_generation", "=number", &Faults::host_generation, generations},
    {"pcie_replays", "=count", &Faults::pcie_replays, any},
    {"nvlink_down", "=link", &Faults::nvlinks_down, nvlinks},
    {"nvlink_errors", "=link", &Faults::nvlinks_with_errors, nvlinks},
    {"host_copies", "=factor", &Faults::host_copies_factor, any},
    {"xid", "=code", log_xid},
    {"new_xid", "=code:launch", log_xid},
    {"neighbour", "[=share[:launch]]", add_neighbour},
};

void refuse(std::string_view fault, const std::string& why) {
  std::string known;
  for (const FaultKind& kind : fault_kinds) {
    known += known.empty() ? "" : ", ";
    known.append(kind.name).append(kind.value);
  }
  throw ConfigError("fault '" + std::string(fault) + "' " + why +
                    " (a fault that does nothing would prove nothing) known faults: " + known);
}

void add_fault(std::string_view text, const Model& model, Faults& faults) {
  const Written fault(text);
  const auto kind = std::ranges::find(fault_kinds, fault.name, &FaultKind::name);
  if (kind == std::end(fault_kinds)) fault.refuse("is unknown");
  const bool takes_second = kind->value.find(':') != std::string_view::npos;
  if (fault.second && !takes_second) fault.refuse("has one number too many");
  if (kind->value.front() == '=' && !fault.first) fault.refuse("needs a number");
  const int parts = kind->parts == nullptr ? 0 : kind->parts(fault, model);
  std::visit(
      [&](auto target) {
        using Of = decltype(target);
        if constexpr (std::is_same_v<Of, std::uint64_t Faults::*>) {
          faults.*target = fault.first ? fault.launch(fault.first) : 1;
        } else if constexpr (std::is_same_v<Of, double Faults::*>) {
          faults.*target = fault.first ? fault.factor() : default_throttle;
        } else if constexpr (std::is_same_v<Of, int Faults::*>) {
          faults.*target = fault.number(fault.first, 1, parts);
        } else if constexpr (std::is_same_v<Of, std::vector<SlowPart> Faults::*>) {
          (faults.*target).push_back({fault.part(parts), fault.number(fault.second, 1U, 10000U)});
        } else if constexpr (std::is_same_v<Of, std::vector<SharedPart> Faults::*>) {
          (faults.*target).push_back({fault.part(parts), fault.share()});
        } else if constexpr (std::is_same_v<Of, std::vector<int> Faults::*>) {
          (faults.*target).push_back(fault.part(parts));
        } else {
          target(fault, model, faults);
        }
      },
      kind->target);
}

}  // namespace

PcieLink pcie_link(const HostModel& host, const Faults& faults) {
  return {.generation = faults.host_generation > 0 ? faults.host_generation : host.pcie_generation,
          .width = faults.host_width > 0 ? faults.host_width : host.pcie_width,
          .most_generation = host.pcie_generation,
          .most_width = host.pcie_width,
          .replays = {}};
}

FaultyModel load_faulty_model(const std::string& text) {
  const std::size_t plus = text.find('+');
  FaultyModel result{.model = load_model(text.substr(0, plus)), .faults = {}};
  for (std::size_t at = plus; at != std::string::npos;) {
    const std::size_t next = text.find('+', at + 1);
    const std::size_t length = next == std::string::npos ? next : next - at - 1;
    add_fault(std::string_view(text).substr(at + 1, length), result.model, result.faults);
    at = next;
  }
  std::ranges::stable_sort(result.faults.xids, {}, &LoggedXid::launch);
  return result;
}

}  // namespace sonde::sim
