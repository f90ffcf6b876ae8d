// Reads what a file system is like, by using it.
#pragma once

#include "doctor/host_facts.hpp"

#include <filesystem>
#include <string>

namespace sonde {

/// Writes and removes a small file there: quotas, root on NFS and read-only mounts show only so. A
/// sick file system may let it hang.
FolderFacts read_folder(const std::filesystem::path& folder);

SharedMemoryFacts read_shared_memory(const std::filesystem::path& folder = "/dev/shm");

/// "xfs" for statfs' f_type 0x58465342; "type 0x1234" for one without a name here.
std::string name_file_system(unsigned long type);

}  // namespace sonde
