// Programs on simulated GPUs, mechanism by mechanism.
#include "device/device_error.hpp"
#include "device/program_plan.hpp"
#include "tests/support/sim_support.hpp"

#include <gtest/gtest.h>

namespace sonde::sim {
namespace {
