// The parts of report.html that no run changes: the files of page/ and Vega, built into the program
// so that a report needs no network and no files. html.cpp and the charts put the run into them.
#pragma once

#include "base/embedded_file.hpp"

namespace sonde {

/// page.html: its policy lets nothing be loaded; Vega compiles its expressions, hence unsafe-eval.
std::span<const EmbeddedFile> page_files();

/// @throws Error if there is no such file
std::string_view page_file(std::string_view name);

/// Vega as one script that sets `vega`. Empty if it was not found when sonde was built.
std::string_view vega_bundle();

}  // namespace sonde
