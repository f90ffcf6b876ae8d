// Rows of the metric registry: the clocks, launches, and the pace of the SM clock.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Quantity launch_time{"ns", inventory, lower};
inline constexpr std::string_view wong_fig_5 = "Wong 2010, figure 5; docs/methods/clock.md";

inline constexpr Row clock_rows[] = {
    {"clock.overhead_cycles", cycles, "two clock reads back to back", mei_4_2},
    {"clock.window_cycles", cycles,
     "a timed window without its load: to be subtracted from timed windows", mei_4_2},
    {"clock.granularity_cycles", Quantity{"cycle", structural, neither},
     "step in which the SM clock counts", wong_4},
    {"clock.scope", text, "what shares one clock register: sm, tpc, gpc or device", wong_4},
    {"clock.globaltimer_step_ns", Quantity{"ns", structural, neither},
     "step of the device-wide timer", "PTX ISA, globaltimer"},
    {"clock.sm_hz", Quantity{"Hz", continuous, higher}, "SM clock against the device-wide timer"},
    {"clock.offset_cycles", curve, "clock of each SM less that of the first, at one time"},
    {"clock.group_of_sm", list, "SMs of one number read the same clock"},
    {"clock.load_hz", Quantity{"Hz", continuous, higher},
     "SM clock against the device-wide timer while all SMs compute"},
    {"clock.load_ratio", number, "the same / the SM clock while they do not"},
    {"clock.settle_ms", Quantity{"ms", inventory, lower},
     "from the first moment of work until the SM clock is steady"},
    {"clock.jitter_fraction", Quantity{"1", inventory, lower},
     "by which the SM clock varies from one half of a millisecond to the next, relative"},
    {"clock.sound", label,
     "whether cycles measured now mean what they mean at another time: yes, or no and why"},
    {"clock.launch_overhead_ns", launch_time,
     "an empty launch, until the host knows that it has ended"},
    {"clock.launch_queued_ns", launch_time, "each further empty launch queued behind it"},
    {"clock.launch_gap_ns", launch_time, "from the end of a launch to the beginning of the next",
     wong_fig_5},
    {"clock.launch_spread_ns", launch_time, "in which the blocks of a launch begin", wong_fig_5},
    {"clock.launch_order", text, "launches of one stream: serial or overlapping", wong_fig_5},
};

}  // namespace sonde::registry
