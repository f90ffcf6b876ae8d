// Any bytes as a run file: refused, or read whole and put out in every format.
#include "analysis/fleet/verdict/reduce.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "fuzz/fuzz_input.hpp"
#include "store/run_reader.hpp"
#include "support/exported.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static const test::InputFile file;
  file.replace(test::to_run_file({data, size}));
  try {
    check_readable(file.path(), Depth::traces);
    const RunResult run = read_run(file.path(), Depth::traces);
    const FleetAnalysis analysis = reduce_fleet(run);
    for (const ExportFormat& format : export_formats) {
      test::check_printable(text_of(format.write, run, analysis));
    }
    test::check_printable(render_html(run, analysis));
    for (const std::string& command : commands_to_paste(run, analysis)) {
      test::check_printable(command);
    }
    if (!nlohmann::json::accept(text_of(write_json, run, analysis))) std::abort();
  } catch (const StoreError&) {
    // Refused.
  }
  return 0;
}
