// Faults on the command line.
#include "device/sim/faults.hpp"

#include "base/error.hpp"
#include "device/sim/model/model_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace sonde::sim {
namespace {

constexpr const char* known_faults =
    "slow_sm=SM:cycles, slow_slice=slice:cycles, slow_tpc=TPC:share, lost_way=SM[:set], "
    "peer_lanes=rank:share, "
    "low_bandwidth=factor, bandwidth_dip=factor, "
    "throttle[=factor], clock_drop=launch[:factor], clock_sink=factor, hang=launch, sticky=launch, "
    "gone=launch, "
    "crash=launch, launch_failure=launch, out_of_memory=launch, nan=launch, "
    "wrong_data[=period], ecc=count, "
    "ecc_rising=launch, host_width=lanes, host_generation=number, pcie_replays=count, "
    "nvlink_down=link, nvlink_errors=link, host_copies=factor, xid=code, new_xid=code:launch, "
    "neighbour[=share[:launch]]";

// Ranks that a run may have.
constexpr int most_ranks = 1 << 20;

// Clearly below the 0.79 to 1 of the highest clock that GPUs in service were seen to keep up.
constexpr double default_throttle = 0.7;

[[noreturn]] void refuse(std::string_view fault, const std::string& why) {
  throw ConfigError(
      "fault '" + std::string(fault) + "' " + why +
      " (a fault that does nothing would prove nothing) known faults: " + known_faults);
}

/// Faults whose value is a count, mostly the number of a launch.
struct CountedFault {
  std::string_view name;
  std::uint64_t Faults::*count;
};
constexpr std::array counted_faults{
    CountedFault{"hang", &Faults::hang_launch},
    CountedFault{"sticky", &Faults::sticky_launch},
    CountedFault{"gone", &Faults::gone_launch},
    CountedFault{"crash", &Faults::crash_launch},
    CountedFault{"launch_failure", &Faults::failing_launch},
    CountedFault{"out_of_memory", &Faults::no_memory_launch},
    CountedFault{"nan", &Faults::nan_launch},
    CountedFault{"ecc", &Faults::ecc_corrected},
    CountedFault{"ecc_rising", &Faults::ecc_rising_launch},
};

/// Faults of the links of a GPU whose model declares them.
constexpr std::array counted_link_faults{
    CountedFault{"host_width", &Faults::host_width},
    CountedFault{"host_generation", &Faults::host_generation},
    CountedFault{"pcie_replays", &Faults::pcie_replays},
};

/// Faults that leave a part of a rate.
struct FactorFault {
  std::string_view name;
  double Faults::*factor;
};
constexpr std::array factor_faults{
    FactorFault{"low_bandwidth", &Faults::bandwidth_factor},
    FactorFault{"bandwidth_dip", &Faults::bandwidth_dip_factor},
    FactorFault{"clock_sink", &Faults::clock_sink_factor},
};

constexpr std::uint64_t most_launches = 1ULL << 40;

/// Faults whose value is the number of an NVLink.
struct NvLinkFault {
  std::string_view name;
  std::vector<int> Faults::*links;
};
constexpr std::array nvlink_faults{
    NvLinkFault{"nvlink_down", &Faults::nvlinks_down},
    NvLinkFault{"nvlink_errors", &Faults::nvlinks_with_errors},
};

template <class Number>
Number parse_number(std::string_view fault, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    refuse(fault, "has no number in range");
  }
  return value;
}

SlowPart parse_slow_part(std::string_view fault, std::string_view value, int parts) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) refuse(fault, "needs number:cycles");
  return {parse_number<int>(fault, value.substr(0, colon), 0, parts - 1),
          parse_number<std::uint32_t>(fault, value.substr(colon + 1), 1, 10000)};
}

/// A part with its share, as SlowPort or LostLanes.
template <class Part>
Part parse_share(std::string_view fault, std::string_view value, int parts) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) refuse(fault, "needs number:share");
  return {parse_number<int>(fault, value.substr(0, colon), 0, parts - 1),
          parse_number<double>(fault, value.substr(colon + 1), 0.01, 1.0)};
}

/// The first cache of plain loads, if each SM has one of its own with a way to spare.
const CacheModel& first_cache(std::string_view fault, const Model& model) {
  const auto& path = model.paths[static_cast<std::size_t>(LoadPath::all_levels)];
  if (path && !path->caches.empty()) {
    const CacheModel& cache = model.caches[path->caches.front()];
    const auto has_ways = [](const Geometry& geometry) {
      return *std::ranges::min_element(geometry.ways_per_set) > 1;
    };
    if (cache.scope == Scope::sm && std::ranges::all_of(cache.geometries, has_ways)) return cache;
  }
  refuse(fault, "needs a model whose SMs have an L1 of their own with two ways at least");
}

LostWay parse_lost_way(std::string_view fault, std::string_view value, const Model& model) {
  const CacheModel& cache = first_cache(fault, model);
  const std::size_t colon = value.find(':');
  LostWay lost{.sm = parse_number<int>(fault, value.substr(0, colon), 0, model.device.sm_count - 1),
               .set = std::nullopt};
  if (colon != std::string_view::npos) {
    const auto sets = static_cast<std::uint32_t>(cache.geometries.front().ways_per_set.size());
    lost.set = parse_number<std::uint32_t>(fault, value.substr(colon + 1), 0, sets - 1);
  }
  return lost;
}

/// @param is_new it comes with a launch
LoggedXid parse_xid(std::string_view fault, std::string_view value, bool is_new) {
  constexpr int most = 1'000'000;
  if (!is_new) return {.code = parse_number<int>(fault, value, 1, most)};
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) refuse(fault, "needs code:launch");
  return {.code = parse_number<int>(fault, value.substr(0, colon), 1, most),
          .launch = parse_number<std::uint64_t>(fault, value.substr(colon + 1), 1, most_launches)};
}

Neighbour parse_neighbour(std::string_view fault, std::string_view value) {
  constexpr double most_share = 0.99;
  const std::size_t colon = value.find(':');
  Neighbour neighbour{.share =
                          parse_number<double>(fault, value.substr(0, colon), 0.01, most_share)};
  if (colon != std::string_view::npos) {
    neighbour.launch =
        parse_number<std::uint64_t>(fault, value.substr(colon + 1), 1, most_launches);
  }
  return neighbour;
}

/// Adds a fault of a link, or an Xid error. @return false if it is none
bool add_link_fault(std::string_view fault, std::string_view name, std::string_view value,
                    const Model& model, Faults& faults) {
  const auto counted = std::ranges::find(counted_link_faults, name, &CountedFault::name);
  const auto nvlink = std::ranges::find(nvlink_faults, name, &NvLinkFault::name);
  const bool is_new_xid = name == "new_xid";
  const bool is_xid = is_new_xid || name == "xid";
  const bool is_slow = name == "host_copies";
  if (counted == counted_link_faults.end() && nvlink == nvlink_faults.end() && !is_xid &&
      !is_slow) {
    return false;
  }
  if (!model.units.host) refuse(fault, "needs a model that declares the way to the host");
  const HostModel& host = *model.units.host;
  if (is_xid) {
    faults.xids.push_back(parse_xid(fault, value, is_new_xid));
    return true;
  }
  if (is_slow) {
    faults.host_copies_factor = parse_number<double>(fault, value, 0.01, 1.0);
    return true;
  }
  if (nvlink != nvlink_faults.end()) {
    (faults.*nvlink->links).push_back(parse_number<int>(fault, value, 0, host.nvlinks - 1));
    return true;
  }
  std::uint64_t most = 1'000'000;
  if (name == "host_width") most = static_cast<std::uint64_t>(host.pcie_width);
  if (name == "host_generation") most = static_cast<std::uint64_t>(host.pcie_generation);
  faults.*counted->count = parse_number<std::uint64_t>(fault, value, 1, most);
  return true;
}

void add_fault(std::string_view fault, const Model& model, Faults& faults) {
  const std::size_t equals = fault.find('=');
  const std::string_view name = fault.substr(0, equals);
  const bool given = equals != std::string_view::npos;
  const std::string_view value = given ? fault.substr(equals + 1) : std::string_view{};
  const auto count = [fault](std::string_view text) {
    return parse_number<std::uint64_t>(fault, text, 1, most_launches);
  };
  const auto factor = [fault](std::string_view text) {
    return parse_number<double>(fault, text, 0.01, 1.0);
  };
  const auto counted = std::ranges::find(counted_faults, name, &CountedFault::name);
  const auto factored = std::ranges::find(factor_faults, name, &FactorFault::name);
  if (counted != counted_faults.end()) {
    faults.*counted->count = count(value);
  } else if (factored != factor_faults.end()) {
    faults.*factored->factor = factor(value);
  } else if (add_link_fault(fault, name, value, model, faults)) {
    return;
  } else if (name == "slow_sm") {
    faults.slow_sms.push_back(parse_slow_part(fault, value, model.device.sm_count));
  } else if (name == "slow_slice") {
    if (!model.slices) refuse(fault, "needs a model that declares slices");
    faults.slow_slices.push_back(
        parse_slow_part(fault, value, model.slices->count * model.partitions.count));
  } else if (name == "slow_tpc") {
    faults.slow_tpcs.push_back(parse_share<SlowPort>(fault, value, model.chip.enabled_tpcs));
  } else if (name == "peer_lanes") {
    if (!model.units.peer) refuse(fault, "needs a model that declares the way to its peers");
    faults.lost_lanes.push_back(parse_share<LostLanes>(fault, value, most_ranks));
  } else if (name == "lost_way") {
    faults.lost_ways.push_back(parse_lost_way(fault, value, model));
  } else if (name == "throttle") {
    faults.clock_factor = given ? factor(value) : default_throttle;
  } else if (name == "clock_drop") {
    const std::size_t colon = value.find(':');
    const bool has_factor = colon != std::string_view::npos;
    faults.clock_drop_launch = count(value.substr(0, colon));
    faults.clock_drop_factor = has_factor ? factor(value.substr(colon + 1)) : default_throttle;
  } else if (name == "neighbour") {
    faults.neighbour = given ? parse_neighbour(fault, value) : Neighbour{};
  } else if (name == "wrong_data") {
    faults.wrong_data_period = given ? count(value) : 1;
  } else {
    refuse(fault, "is unknown");
  }
}

}  // namespace

PcieLink pcie_link(const HostModel& host, const Faults& faults) {
  const auto or_whole = [](std::uint64_t of_fault, int whole) {
    return of_fault == 0 ? whole : static_cast<int>(of_fault);
  };
  return {.generation = or_whole(faults.host_generation, host.pcie_generation),
          .width = or_whole(faults.host_width, host.pcie_width),
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
