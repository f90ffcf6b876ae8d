// Fills the memory, the constant bank or the texture that the kernel of a chase then loads from.
#include "device/cuda/lanes/chase_memory.hpp"

#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

static_assert(kernels::row_texels * layout::texel_bytes == texture_row_bytes);
static_assert(kernels::bank_bytes == constant_bank_bytes);
static_assert(as_kernel<kernels::ChasePath>(LoadPath::atomic) == kernels::ChasePath::atomic);

}  // namespace

ChaseMemory::ChaseMemory(Session& session, const ChaseProbe& probe, kernels::Order order)
    : session_(session),
      probe_(probe),
      path_(probe.lanes.front().path),
      zeros_(order == kernels::Order::script) {
  if (path_ == LoadPath::constant) return;
  const layout::RehearsalPlace rehearsal = layout::rehearsal_behind(path_, probe.buffer_bytes);
  rehearsal_offset_bytes_ = rehearsal.offset_bytes;
  buffer_bytes_ = rehearsal.span_bytes;
  data_ = session.data(probe.place, buffer_bytes_, probe.peer_uuid);
  if (path_ == LoadPath::texture_1d) {
    texture_ = session.texture().over_memory(data_, buffer_bytes_);
  }
  if (path_ == LoadPath::texture_2d) {
    texture_ = session.texture().over_rows(buffer_bytes_ / texture_row_bytes);
  }
}

std::uint64_t ChaseMemory::place(std::uint64_t offset_bytes) const {
  return layout::place_of(path_, reinterpret_cast<std::uint64_t>(data_), offset_bytes);
}

void ChaseMemory::add(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan) {
  plan.launch().texture = texture_;
  if (path_ == LoadPath::constant) return add_bank(std::move(words), plan);
  if (layout::has_addresses(path_)) {
    add_rehearsal(plan);
  } else {
    plan.launch().rehearsal_place = place(rehearsal_offset_bytes_);
    words.push_back({rehearsal_offset_bytes_, zeros_ ? 0 : plan.launch().rehearsal_place});
  }
  writes_ = session_.arrays().add_input<kernels::WordWrite>(words.size());
  std::ranges::copy(words, writes_.host.begin());
  add_stores(std::move(words), plan);
}

void ChaseMemory::add(const layout::ListPlan& list, ChaseLaunchPlan& plan) {
  const auto listed = session_.arrays().add_input<std::uint32_t>(list.list.size());
  std::ranges::copy(list.list, listed.host.begin());
  list_ = {listed.device, list.list.size(), list.shares};
  add_rehearsal(plan);
}

/// Where places are addresses, the rehearsal of the timed loop has a word outside the buffer.
void ChaseMemory::add_rehearsal(ChaseLaunchPlan& plan) {
  const auto word = session_.arrays().add_input<std::uint64_t>(1);
  plan.launch().rehearsal_place = reinterpret_cast<std::uint64_t>(word.device);
  word.host.front() = zeros_ ? 0 : plan.launch().rehearsal_place;
}

void ChaseMemory::add_bank(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan) {
  std::vector<std::uint64_t> taken;
  for (const kernels::WordWrite& word : words) taken.push_back(word.offset_bytes);
  const std::uint64_t rehearsal = layout::free_bank_offset(taken);
  if (!zeros_ && std::ranges::find(taken, rehearsal) == taken.end()) {
    words.push_back({rehearsal, rehearsal});
  }
  plan.launch().rehearsal_place = rehearsal;
  bank_ = session_.arrays().add_input<std::uint32_t>(kernels::bank_bytes / 4);
  std::ranges::fill(bank_.host, 0u);
  for (const kernels::WordWrite& word : words) {
    bank_.host[word.offset_bytes / 4] = static_cast<std::uint32_t>(word.value);
  }
}

/// Stores write the value that a word already holds, or 0 if no load reads the word.
void ChaseMemory::add_stores(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan) {
  const auto stores_some = [](const ChaseLane& lane) { return !lane.stored_offsets_bytes.empty(); };
  if (std::ranges::none_of(probe_.lanes, stores_some)) return;
  if (path_ == LoadPath::texture_2d) {
    throw_device_error(
        "a chase stores into a two-dimensional texture (plain stores do not reach its array). "
        "Store through another path");
  }
  constexpr auto offset_of = &kernels::WordWrite::offset_bytes;
  std::ranges::sort(words, {}, offset_of);
  for (std::size_t lane = 0; lane < probe_.lanes.size(); ++lane) {
    const std::vector<std::uint64_t>& offsets_bytes = probe_.lanes[lane].stored_offsets_bytes;
    const auto stores = session_.arrays().add_input<kernels::StoredWord>(offsets_bytes.size());
    auto store = stores.host.begin();
    for (std::uint64_t offset_bytes : offsets_bytes) {
      const auto word = std::ranges::lower_bound(words, offset_bytes, {}, offset_of);
      const bool is_held = word != words.end() && word->offset_bytes == offset_bytes;
      *store++ = {reinterpret_cast<std::uint64_t>(data_ + offset_bytes), is_held ? word->value : 0};
    }
    plan.tasks()[lane].stores = stores.device;
    plan.tasks()[lane].store_count = static_cast<std::uint32_t>(offsets_bytes.size());
  }
}

void ChaseMemory::queue() {
  const cudaStream_t stream = session_.stream();
  if (path_ == LoadPath::constant) {
    SONDE_CUDA_CHECK(kernels::fill_constant_bank(bank_.device, stream));
  } else if (list_.count > 0) {
    SONDE_CUDA_CHECK(kernels::link_words(data_, list_, stream));
  } else {
    SONDE_CUDA_CHECK(kernels::scatter_words(data_, writes_.device, writes_.host.size(), stream));
  }
  if (path_ == LoadPath::texture_2d) session_.texture().fill_rows(data_, stream);
  if (probe_.preparation == Preparation::flushed) session_.flush_caches(buffer_bytes_);
}

}  // namespace sonde::cuda
