// Any bytes as the baseline that a good run is compared with, and the other way round.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "fuzz/fuzz_input.hpp"
#include "store/run_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  static const test::InputFile file;
  static const RunResult good = [] {
    file.replace(test::good_run_file());
    return read_run(file.path(), Depth::probes);
  }();
  file.replace(test::to_run_file({data, size}));
  try {
    check_readable(file.path(), Depth::probes);
    const RunResult other = read_run(file.path(), Depth::probes);
    test::check_printable(render_comparison(compare_runs(other, good)));
    test::check_printable(render_comparison(compare_runs(good, other)));
    test::check_printable(render_comparison_json(compare_runs(good, other)));
  } catch (const StoreError&) {
    // Refused.
  }
  return 0;
}
