// Reads what a machine gives to a run: launcher, CPUs, memory, limits, MPS. `root` stands before
// /proc and /sys, for tests.
#pragma once

#include "doctor/host_facts.hpp"
#include "doctor/judge_gpu.hpp"

#include <filesystem>

namespace sonde {

/// By the variables of Open MPI and Slurm.
Launch read_launch();

CpuFacts read_cpus(const std::filesystem::path& root = "/");
MemoryFacts read_memory(const std::filesystem::path& root = "/");
LimitFacts read_limits();
MpsFacts read_mps(const std::filesystem::path& root = "/");

}  // namespace sonde
