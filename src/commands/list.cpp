// `sonde list`: the jobs, the registry of metrics, the simulated GPUs, or the GPUs of this machine.
#include "base/error.hpp"
#include "base/units.hpp"
#include "commands/commands.hpp"
#include "device/backends/open_device.hpp"
#include "jobs/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <vector>

namespace sonde {
namespace {

std::string range_of(const JobOption& option) {
  if (option.unit.empty()) return fmt::format("{}", fmt::join(option.choices, " | "));
  const auto bound = [&option](double number) {
    return option.unit == "byte" ? format_bytes(number) : fmt::format("{:.0f}", number);
  };
  return fmt::format("{} to {}", bound(option.least), bound(option.most));
}

void print_jobs() {
  std::size_t width = 0;
  for (const Job& job : all_jobs()) width = std::max(width, job.name.size());
  for (const Job& job : all_jobs()) {
    std::cout << fmt::format("{:<{}} {:<9} {}\n", job.name, width,
                             name_of(suite_level_names, job.level), job.summary);
    for (const JobOption& option : job.options) {  // for --set and --sweep
      std::cout << fmt::format("    {}.{}  {}; {} (usually {})\n", job.name, option.name,
                               option.help, range_of(option), option.usual);
    }
  }
}

void print_devices(const std::string& backend_text) {
  constexpr std::uint64_t seed = 1;  // the default of `run`: the same simulated GPUs
  const BackendChoice backend = parse_backend(backend_text);
  check_backend(backend);
  const std::vector<DeviceChoice> visible = list_visible_devices(backend, 0, seed);
  if (visible.empty()) {
    throw DeviceError(
        "no GPU found (the driver lists none) check nvidia-smi -L and "
        "CUDA_VISIBLE_DEVICES");
  }
  for (const DeviceChoice& choice : visible) {
    const auto device = open_device(backend, choice, seed);
    const DeviceInfo& info = device->info();
    std::cout << fmt::format("{}  {}  {} SMs  {}\n", info.uuid, info.name, info.sm_count,
                             info.pci_bus_id);
  }
}

}  // namespace

ExitStatus execute(const ListOptions& options) {
  switch (options.topic) {
    case ListTopic::jobs: print_jobs(); break;
    case ListTopic::metrics: std::cout << render_metric_list(options.format); break;
    case ListTopic::models:
      for (const std::string& model : list_models()) std::cout << model << '\n';
      break;
    case ListTopic::devices: print_devices(options.backend); break;
  }
  return ExitStatus::ok;
}

}  // namespace sonde
