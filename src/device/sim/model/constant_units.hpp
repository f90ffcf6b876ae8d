// How many constants flow: what of an SM holds them up, and the ports of the caches behind it. Read
// by units.hpp, played by play/constant.cpp.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

#include <string>
#include <vector>

namespace sonde::sim {

/// Through which one cache answers all SMs that share it, line after line.
struct ConstantPort {
  std::string cache;
  double bytes_per_cycle = 0;

  static ConstantPort read(Fields& fields) {
    return {.cache = fields.text("cache"),
            .bytes_per_cycle = fields.number("bytes_per_cycle", {1e-3, limits::bytes_per_cycle})};
  }
};

struct ConstantModel {
  double load_cycles = 1;              // between two loads of an SM, each of one address
  std::uint32_t misses_in_flight = 1;  // of an SM's first cache
  std::vector<ConstantPort> ports;     // caches without one hold nothing up

  static ConstantModel read(Fields& fields) {
    return {.load_cycles = fields.number("load_cycles", {0.01, limits::cycles}),
            .misses_in_flight = fields.count("misses_in_flight", {1, limits::entries}),
            .ports = fields.has("ports") ? fields.objects("ports", ConstantPort::read)
                                         : std::vector<ConstantPort>{}};
  }
};

}  // namespace sonde::sim
