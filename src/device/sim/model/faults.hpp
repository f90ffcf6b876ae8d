// Faults of a simulated GPU. They follow its model on the command line:
// h200+slow_sm=17:3+low_bandwidth=0.8
#pragma once

#include "device/sim/model/model.hpp"
#include "trace/links.hpp"

#include <optional>

namespace sonde::sim {

/// One SM or slice that answers late.
struct SlowPart {
  int part = 0;
  std::uint32_t cycles = 0;
};

/// A port of a TPC, or the link to the GPU of a rank, that has only a share of its rate.
struct SharedPart {
  int part = 0;
  double share = 1;
};

/// A way that is switched off in the first cache of plain loads of one SM.
struct LostWay {
  int sm = 0;
  std::optional<std::uint32_t> set;  // none: in every set
};

/// Another process that works on the GPU: it takes this share of the DRAM's bandwidth and of the
/// L2, and time of some SMs.
struct Neighbour {
  double share = 0.5;
  std::uint64_t launch = 1;  // its first launch; 1: it was there before the device was opened
};

/// An Xid error in the log of the driver.
struct LoggedXid {
  int code = 0;
  std::uint64_t launch = 0;  // the launch that logged it; 0: it was there before
};

/// Launches count from 1 in each process that opens the GPU; 0: none.
struct Faults {
  std::vector<SlowPart> slow_sms;     // every load of this SM takes so much longer
  std::vector<SlowPart> slow_slices;  // every load that this L2 slice serves takes longer
  std::vector<SharedPart> slow_tpcs;  // ports of TPCs
  std::vector<LostWay> lost_ways;
  std::vector<SharedPart> lost_lanes;   // of links to the GPUs of other world ranks
  double bandwidth_factor = 1;          // of the DRAM
  double bandwidth_dip_factor = 1;      // of the DRAM, too, until jobs are measured a second time
  double clock_factor = 1;              // of the SM clock; below 1: thermal throttling
  std::uint64_t clock_drop_launch = 0;  // from this launch on the clock is lower, too
  double clock_drop_factor = 1;         // by this factor
  double clock_sink_factor = 1;         // each draw_anew() lowers the SM clock by this factor
  std::uint64_t hang_launch = 0;        // this launch never ends
  std::uint64_t sticky_launch = 0;      // from this launch on nothing works
  std::uint64_t gone_launch = 0;        // from this launch on the GPU cannot be reached
  std::uint64_t crash_launch = 0;       // this launch ends the process by SIGSEGV
  std::uint64_t failing_launch = 0;     // this launch alone fails
  std::uint64_t nan_launch = 0;         // from this launch on wall times and conditions are NaN
  std::uint64_t wrong_data_period = 0;  // every so many launches read wrong data
  std::uint64_t ecc_corrected = 0;
  int host_width = 0;              // lanes of the link to the host; 0: all
  int host_generation = 0;         // of the link to the host; 0: the highest
  std::uint64_t pcie_replays = 0;  // replays that each launch adds
  double host_copies_factor = 1;   // of the rate of copies, whatever the link is
  std::vector<LoggedXid> xids;     // sorted by launch
  std::vector<int> nvlinks_down;
  std::vector<int> nvlinks_with_errors;  // one CRC error more with each launch
  std::optional<Neighbour> neighbour;
  std::uint64_t ecc_rising_launch = 0;  // from this launch on each one adds a corrected error
};

struct FaultyModel {
  Model model;
  Faults faults;
};

/// The link to the host, as faults leave it; its counter of replays is unset.
PcieLink pcie_link(const HostModel& host, const Faults& faults);

/// Reads `<model>[+<fault>...]`; docs/simulated-gpus.md lists the faults.
/// @throws ConfigError for an unknown model or fault, or a part that the model does not have
FaultyModel load_faulty_model(const std::string& text);

}  // namespace sonde::sim
