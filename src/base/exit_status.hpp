// How sonde ends, the same for every command (docs/running.md tells what a batch script does then).
#pragma once

namespace sonde {

enum class ExitStatus {
  ok = 0,
  error = 1,
  usage = 2,
  incomplete = 3,  // findings missing, or a device lost
  verdict = 4,     // a device failed its verdict
  resumable = 75   // stopped early; --resume goes on
};

}  // namespace sonde
