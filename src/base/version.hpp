// Which sonde this is: filled in by the build.
#pragma once

namespace sonde {

extern const char* const version;
extern const char* const git_revision;

}  // namespace sonde
