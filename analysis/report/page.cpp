// Finds the built-in parts of report.html by name.
#include "analysis/report/page.hpp"

#include "base/error.hpp"

namespace sonde {

std::string_view page_file(std::string_view name) {
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == name) return file.text;
  }
  throw Error("report.html has no part '" + std::string(name) + "'");
}

std::string_view vega_bundle() { return page_file("vega_bundle.js"); }

}  // namespace sonde
