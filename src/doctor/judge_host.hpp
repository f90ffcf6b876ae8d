// What a machine gives to the processes of a run means for a measurement. Pure.
#pragma once

#include "doctor/checkup.hpp"
#include "doctor/demand.hpp"
#include "doctor/host_facts.hpp"

#include <string>
#include <vector>

namespace sonde {

/// `cpus`: whether each rank of this node has one.
Check judge_cpus(const CpuFacts& cpus, const Launch& launch);

/// `memory`: whether all ranks of this node fit.
Check judge_memory(const MemoryFacts& memory, const Demand& demand, const Launch& launch);

/// `limits.*`: of files, address space, open files and processes.
Checks judge_limits(const LimitFacts& limits, const Demand& demand, const Launch& launch);

/// `output`, `output.space`, `output.locks`: the folder of the run file.
Checks judge_folder(const FolderFacts& folder, const Demand& demand, const Launch& launch);

/// `shared_memory`: /dev/shm.
Check judge_shared_memory(const SharedMemoryFacts& memory, const Launch& launch);

/// `mpi.settings`: variables that go before sonde's own choice.
Check judge_mpi_settings(const std::vector<MpiOverride>& overrides);

/// `mpi.start`: MPI came up, with as many ranks as the launcher started.
Check judge_mpi_start(const MpiStart& start, const Launch& launch);

}  // namespace sonde
