// How launches follow each other and how the SM clock behaves: read by units.hpp, played by
// play/pace.cpp.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

namespace sonde::sim {

/// What a model that says nothing of launches has: about what recent GPUs have.
struct LaunchModel {
  double wait_ns = 8000;  // until the host knows that a launch has ended, without the launch itself
  double kernel_ns = 1500;         // of an empty kernel
  double gap_ns = 1000;            // from the end of a launch to the beginning of the next
  double spread_ns = 800;          // in which the blocks of a launch begin
  double scatter_fraction = 0.03;  // by which the host waits longer: a deviation of a normal one

  static LaunchModel read(Fields& fields) {
    const Range time{0, limits::nanoseconds};
    return {.wait_ns = fields.number("wait_ns", time),
            .kernel_ns = fields.number("kernel_ns", time),
            .gap_ns = fields.number("gap_ns", time),
            .spread_ns = fields.number("spread_ns", time),
            .scatter_fraction = fields.number_or("scatter_fraction", {0, 1}, 0)};
  }
};

/// What a model that says nothing of it has: a clock that stays as it is.
struct PaceModel {
  double cold_factor = 1;      // of the clock when a job begins, rising evenly to 1 within ...
  double ramp_ns = 0;          // ... this time
  double load_factor = 1;      // of the clock while all SMs compute
  double jitter_fraction = 0;  // by which it varies between two readings

  static PaceModel read(Fields& fields) {
    return {.cold_factor = fields.number_or("cold_factor", {0.01, 1}, 1),
            .ramp_ns = fields.number_or("ramp_ns", {0, limits::nanoseconds}, 0),
            .load_factor = fields.number_or("load_factor", {0.01, 1}, 1),
            .jitter_fraction = fields.number_or("jitter_fraction", {0, 0.1}, 0)};
  }
};

}  // namespace sonde::sim
