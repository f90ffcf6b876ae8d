// The version of sonde; the build fills it in.
#pragma once

namespace sonde {

extern const char* const version;
extern const char* const git_revision;

}  // namespace sonde
