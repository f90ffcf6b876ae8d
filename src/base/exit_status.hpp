// The exit status of every command (docs/running.md tells how a batch script reacts to it).
#pragma once

namespace sonde {

enum class ExitStatus {
  ok = 0,
  error = 1,
  usage = 2,
  incomplete = 3,  // findings are missing, or a device was lost
  verdict = 4,     // a device failed its verdict
  resumable = 75   // stopped early; --resume goes on
};

}  // namespace sonde
