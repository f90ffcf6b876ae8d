// A small file on a file system, and the numbers of statfs and statvfs.
#include "doctor/read_folder.hpp"

#include "base/enum_text.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sonde {
namespace fs = std::filesystem;
namespace {

// linux/magic.h; Lustre, GPFS, BeeGFS and Weka from their clients (coreutils, src/stat.c).
constexpr EnumName<unsigned long> file_system_names[]{
    {0xef53, "ext4"},      {0x58465342, "xfs"},     {0x9123683e, "btrfs"},   {0x01021994, "tmpfs"},
    {0x858458f6, "ramfs"}, {0x794c7630, "overlay"}, {0x6969, "NFS"},         {0x0bd00bd0, "Lustre"},
    {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},  {0x00c36400, "Ceph"},    {0x5346414f, "AFS"},
    {0xff534d42, "CIFS"},  {0xfe534d42, "SMB2"},    {0x65735546, "FUSE"},    {0x2fc12fc1, "ZFS"},
    {0x01021997, "9p"},    {0xaad7aaea, "PanFS"},   {0x73717368, "squashfs"}};

/// A file that is gone with this object.
class TrialFile {
 public:
  explicit TrialFile(const fs::path& folder)
      : name_((folder / ".sonde-doctor-XXXXXX").string()), file_(mkstemp(name_.data())) {}
  ~TrialFile() {
    if (file_ < 0) return;
    close(file_);
    unlink(name_.c_str());
  }
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;

  /// Why it cannot be written; "" if it can. A full disk or quota shows at the latest in fsync.
  std::string try_to_write() const {
    const std::string block(4096, 's');
    if (file_ < 0 ||
        write(file_, block.data(), block.size()) != static_cast<ssize_t>(block.size()) ||
        fsync(file_) != 0) {
      return std::strerror(errno);
    }
    return "";
  }
  Flock try_to_lock() const {
    return flock(file_, LOCK_EX | LOCK_NB) == 0 ? Flock::works : Flock::refused;
  }

 private:
  std::string name_;
  int file_;
};

}  // namespace

std::string name_file_system(unsigned long type) {
  for (const auto& entry : file_system_names) {
    if (entry.value == type) return std::string(entry.name);
  }
  return fmt::format("type {:#x}", type);
}

FolderFacts read_folder(const fs::path& folder) {
  FolderFacts facts{.folder = folder.string()};
  const TrialFile trial(folder);
  facts.problem = trial.try_to_write();
  struct statfs kind {};
  struct statvfs space {};
  if (facts.problem.empty() &&
      (statfs(folder.c_str(), &kind) != 0 || statvfs(folder.c_str(), &space) != 0)) {
    facts.problem = std::strerror(errno);
  }
  if (!facts.problem.empty()) return facts;
  facts.file_system = name_file_system(static_cast<unsigned long>(kind.f_type));
  facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  if (space.f_files > 0) facts.free_files = space.f_favail;
  facts.flock = trial.try_to_lock();
  if (const char* locking = std::getenv("HDF5_USE_FILE_LOCKING")) facts.file_locking = locking;
  return facts;
}

SharedMemoryFacts read_shared_memory(const fs::path& folder) {
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) return {.problem = std::strerror(errno)};
  return {.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize};
}

}  // namespace sonde
