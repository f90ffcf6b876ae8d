// Compares lists of processes.
#include "device/cuda/processes.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

bool is_among(const Processes& processes, unsigned pid) {
  return std::ranges::find(processes, pid) != processes.end();
}

}  // namespace

Processes find_own(const Processes& before, const Processes& after, unsigned self) {
  if (is_among(after, self)) return {self};
  Processes own;
  for (const unsigned pid : after) {
    if (!is_among(before, pid)) own.push_back(pid);
  }
  return own;
}

int count_others(const Processes& processes, const Processes& own) {
  return static_cast<int>(
      std::ranges::count_if(processes, [&own](unsigned pid) { return !is_among(own, pid); }));
}

}  // namespace sonde::cuda
