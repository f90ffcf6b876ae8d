// Lanes that execute code: the order lies in shared memory, the blocks are part of the program.
#include "base/units.hpp"
#include "device/cuda/lanes/path_lanes.hpp"
#include "device/device_error.hpp"
#include "device/layout/code_map.hpp"

#include <utility>

namespace sonde::cuda {
namespace {

constexpr std::uint64_t instruction_bytes = 16;  // since Volta (Jia et al. 2018, section 2.1)
static_assert(kernels::code_block_bytes == code_block_bytes);
static_assert(kernels::code_additions == code_block_bytes / instruction_bytes - 1);

layout::CodeMap read_code_map() {
  std::vector<std::uint64_t> addresses(kernels::code_blocks);
  SONDE_CUDA_CHECK(kernels::read_code_addresses(addresses.data()));
  return layout::map_code(std::move(addresses), instruction_bytes);
}

void check_code(const ChaseProbe& probe, const layout::CodeMap& map) {
  const std::uint64_t code_bytes = map.blocks * code_block_bytes;
  if (probe.buffer_bytes > code_bytes) {
    throw_device_error("the probe spans {} of code (there are {}). Ask for less",
                       format_bytes(probe.buffer_bytes), format_bytes(code_bytes));
  }
}

void check_additions(std::uint64_t found, std::uint64_t wanted, std::size_t lane) {
  if (found == wanted) return;
  throw_device_error(
      "lane {} executed {} additions instead of {} (it entered other code than planned, so its "
      "times mean nothing). Build sonde with this GPU's architecture in CMAKE_CUDA_ARCHITECTURES",
      lane, found, wanted);
}

class CodeLanes final : public PathLanes {
 public:
  CodeLanes(Session& session, const ChaseProbe& probe, const layout::CodeMap& map)
      : PathLanes(session, probe, kernels::code_chase), map_(map) {
    plan_.add_scripts(probe);
    for (kernels::ChaseTask& task : plan_.tasks()) task.start = map.first_address;
    plan_.launch().rehearsal_place = map.rehearsal_address;
  }

  void queue_before(const LaunchShape&) override {
    // The flush does not reach the instruction caches of the SM itself.
    if (probe_.preparation == Preparation::flushed) session_.flush_caches(0);
  }

  void check() const override {
    for (std::size_t lane = 0; lane < probe_.lanes.size(); ++lane) {
      const std::uint64_t additions =
          layout::counted_additions(map_, probe_.lanes[lane].offsets_bytes, accesses_of(probe_));
      check_additions(plan_.lanes().final_value(lane), additions, lane);
    }
  }

  std::uint64_t place(std::uint64_t offset_bytes) const override {
    return map_.first_address + offset_bytes;
  }

 private:
  const layout::CodeMap& map_;
};

}  // namespace

std::unique_ptr<PathLanes> make_code_lanes(Session& session, const ChaseProbe& probe) {
  if (!session.code_map()) session.code_map() = read_code_map();
  const layout::CodeMap& map = *session.code_map();
  check_code(probe, map);
  return std::make_unique<CodeLanes>(session, probe, map);
}

}  // namespace sonde::cuda
