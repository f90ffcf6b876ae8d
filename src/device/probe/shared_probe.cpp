// Checks and the JSON description of the probes of shared memory.
#include "device/probe/shared_probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

constexpr EnumName<AtomicForm> form_names[]{{AtomicForm::returned, "returned"},
                                            {AtomicForm::unused, "unused"},
                                            {AtomicForm::counted, "counted"}};

constexpr EnumName<SharedWork> shared_work_names[]{{SharedWork::copies, "copies"},
                                                   {SharedWork::loads, "loads"}};

int bank_bytes(BankMode mode) { return mode == BankMode::eight_bytes ? 8 : 4; }

}  // namespace

std::uint64_t shared_chase_span_bytes(const SharedChaseProbe& probe) {
  return std::ranges::max(probe.thread_offsets_bytes) +
         std::uint64_t{probe.words - 1} * probe.step_bytes +
         static_cast<std::uint64_t>(probe.element_bytes);
}

nlohmann::json describe(const SharedChaseProbe& probe) {
  nlohmann::json result = {{"thread_offsets_bytes", probe.thread_offsets_bytes},
                           {"element_bytes", probe.element_bytes},
                           {"bank_mode_bytes", bank_bytes(probe.bank_mode)},
                           {"footprint_bytes", shared_chase_span_bytes(probe)},
                           {"accesses", probe.accesses}};
  if (probe.words > 1) {
    result["words"] = probe.words;
    result["step_bytes"] = probe.step_bytes;
    result["hop_words"] = probe.hop_words;
  }
  return result;
}

std::uint64_t shared_stream_block_bytes(const SharedStreamProbe& probe) {
  const int elements = probe.work == SharedWork::copies ? 2 * probe.ilp : 1;
  return static_cast<std::uint64_t>(probe.block_threads) * static_cast<std::uint64_t>(elements) *
         static_cast<std::uint64_t>(probe.element_bytes);
}

nlohmann::json describe(const SharedStreamProbe& probe) {
  return {{"work", name_of(shared_work_names, probe.work)}, {"block_threads", probe.block_threads},
          {"blocks_per_sm", probe.blocks_per_sm},           {"ilp", probe.ilp},
          {"element_bytes", probe.element_bytes},           {"passes", probe.passes},
          {"bank_mode_bytes", bank_bytes(probe.bank_mode)}};
}

nlohmann::json describe(const SharedAtomicProbe& probe) {
  return {{"form", name_of(form_names, probe.form)},
          {"thread_offsets_bytes", probe.thread_offsets_bytes},
          {"accesses", probe.accesses}};
}

void check(const SharedChaseProbe& probe, int sm_count) {
  require(probe.accesses > 0 && !probe.sms.empty(), "a shared chase needs accesses and SMs");
  require(probe.element_bytes == 4 || probe.element_bytes == 8, "element_bytes must be 4 or 8");
  require(!probe.thread_offsets_bytes.empty() && probe.thread_offsets_bytes.size() <= warp_threads,
          "a shared chase needs offsets of 1 to 32 threads (it is made by one warp)");
  const auto unit = static_cast<unsigned>(probe.element_bytes);
  for (std::uint32_t offset : probe.thread_offsets_bytes) {
    require(offset % unit == 0, "thread offsets must be multiples of element_bytes");
  }
  require(probe.words > 0, "a thread of a shared chase needs a word");
  if (probe.words > 1) {
    require(probe.step_bytes > 0 && probe.step_bytes % unit == 0,
            "step_bytes must be a multiple of element_bytes");
    require(
        probe.hop_words < probe.words && std::gcd(probe.hop_words, probe.words) == 1,
        "hop_words must be less than words, with no common divisor (each word is to be loaded)");
  }
  check_sms(probe.sms, sm_count);
}

void check(const SharedStreamProbe& probe, int) {
  require(probe.block_threads > 0 && probe.blocks_per_sm > 0 && probe.ilp > 0 && probe.passes > 0,
          "a shared stream needs positive counts");
  require(probe.work == SharedWork::copies || probe.ilp == shared_loads_in_row,
          "a shared stream of loads needs an ilp of 8");
  require(probe.element_bytes == 4 || probe.element_bytes == 8, "element_bytes must be 4 or 8");
}

void check(const SharedAtomicProbe& probe, int sm_count) {
  require(probe.accesses > 0 && probe.accesses % shared_atomic_group == 0,
          "accesses of shared atomics must be a multiple of 16");
  require(probe.thread_offsets_bytes.size() == warp_threads,
          "shared atomics need an offset for each thread of a warp");
  for (std::uint32_t offset : probe.thread_offsets_bytes) {
    require(offset % 4 == 0, "thread offsets of shared atomics must be multiples of 4");
  }
  require(!probe.sms.empty(), "shared atomics need SMs");
  check_sms(probe.sms, sm_count);
}

}  // namespace sonde
