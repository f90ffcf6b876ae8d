// Fills the memory, the constant bank or the texture that the kernel of a chase then loads from.
#include "device/cuda/chase_memory.hpp"

#include "base/error.hpp"
#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

static_assert(kernels::row_texels * layout::texel_bytes == texture_row_bytes);
static_assert(kernels::bank_bytes == constant_bank_bytes);

}  // namespace

kernels::ChasePath to_chase_path(LoadPath path) {
  switch (path) {
    case LoadPath::all_levels: return kernels::ChasePath::ca;
    case LoadPath::past_l1: return kernels::ChasePath::cg;
    case LoadPath::read_only: return kernels::ChasePath::nc;
    case LoadPath::uncached: return kernels::ChasePath::cv;
    case LoadPath::constant: return kernels::ChasePath::constant;
    case LoadPath::texture_1d: return kernels::ChasePath::texture_1d;
    case LoadPath::texture_2d: return kernels::ChasePath::texture_2d;
    case LoadPath::atomic: return kernels::ChasePath::atomic;
    case LoadPath::instruction: break;
  }
  throw Error("code is executed, not loaded");
}

ChaseMemory::ChaseMemory(Session& session, const ChaseProbe& probe, kernels::Order order)
    : session_(session),
      probe_(probe),
      path_(probe.lanes.front().path),
      zeros_(order == kernels::Order::script) {
  if (path_ == LoadPath::constant) return;
  const layout::RehearsalPlace rehearsal = layout::rehearsal_behind(path_, probe.buffer_bytes);
  rehearsal_offset_bytes_ = rehearsal.offset_bytes;
  buffer_bytes_ = rehearsal.span_bytes;
  data_ = probe.peer_uuid ? session.peer_data(*probe.peer_uuid, buffer_bytes_)
                          : session.data(probe.place, buffer_bytes_);
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

void ChaseMemory::add(std::vector<kernels::WordWrite> words) {
  words_ = std::move(words);
  if (path_ == LoadPath::constant) {
    std::vector<std::uint64_t> taken;
    for (const kernels::WordWrite& word : words_) taken.push_back(word.offset_bytes);
    rehearsal_offset_bytes_ = layout::free_bank_offset(taken);
    if (!zeros_ && std::ranges::find(taken, rehearsal_offset_bytes_) == taken.end()) {
      words_.push_back({rehearsal_offset_bytes_, rehearsal_offset_bytes_});
    }
    bank_ = session_.arrays().add_input<std::uint32_t>(kernels::bank_bytes / 4);
    return;
  }
  if (layout::has_addresses(path_)) {
    rehearsal_ = session_.arrays().add_input<std::uint64_t>(1);
  } else {
    words_.push_back({rehearsal_offset_bytes_, zeros_ ? 0 : place(rehearsal_offset_bytes_)});
  }
  writes_ = session_.arrays().add_input<kernels::WordWrite>(words_.size());
  for (const ChaseLane& lane : probe_.lanes) {
    stores_.push_back(
        session_.arrays().add_input<kernels::StoredWord>(lane.stored_offsets_bytes.size()));
  }
}

void ChaseMemory::add(const layout::ListPlan& list) {
  list_ = &list;
  listed_ = session_.arrays().add_input<std::uint32_t>(list.list.size());
  rehearsal_ = session_.arrays().add_input<std::uint64_t>(1);
}

void ChaseMemory::fill(ChaseLaunchPlan& plan) {
  kernels::ChaseLaunch& launch = plan.launch();
  launch.texture = texture_;
  launch.rehearsal_place = place(rehearsal_offset_bytes_);
  if (path_ == LoadPath::constant) {
    const auto bank = session_.arrays().host(bank_);
    std::ranges::fill(bank, 0u);
    for (const kernels::WordWrite& word : words_) {
      bank[word.offset_bytes / 4] = static_cast<std::uint32_t>(word.value);
    }
    return;
  }
  if (list_ != nullptr) {
    std::ranges::copy(list_->list, session_.arrays().host(listed_).begin());
  } else {
    std::ranges::copy(words_, session_.arrays().host(writes_).begin());
  }
  if (layout::has_addresses(path_)) {
    launch.rehearsal_place = reinterpret_cast<std::uint64_t>(session_.arrays().device(rehearsal_));
    session_.arrays().host(rehearsal_).front() = zeros_ ? 0 : launch.rehearsal_place;
  }
  fill_stores(plan);
}

void ChaseMemory::fill_stores(ChaseLaunchPlan& plan) {
  const auto stores_some = [](const ChaseLane& lane) { return !lane.stored_offsets_bytes.empty(); };
  if (std::ranges::none_of(probe_.lanes, stores_some)) return;
  if (path_ == LoadPath::texture_2d) {
    throw_device_error(
        "a chase stores into a two-dimensional texture (plain stores do not reach its array). "
        "Store through another path");
  }
  std::ranges::sort(words_, {}, &kernels::WordWrite::offset_bytes);
  for (std::size_t lane = 0; lane < stores_.size(); ++lane) {
    auto store = session_.arrays().host(stores_[lane]).begin();
    for (std::uint64_t offset_bytes : probe_.lanes[lane].stored_offsets_bytes) {
      *store++ = {reinterpret_cast<std::uint64_t>(data_ + offset_bytes), held_value(offset_bytes)};
    }
    plan.tasks()[lane].stores = session_.arrays().device(stores_[lane]);
    plan.tasks()[lane].store_count = static_cast<std::uint32_t>(stores_[lane].count);
  }
}

/// What a word holds after queue(); 0 for one that no load finds. The words are sorted.
std::uint64_t ChaseMemory::held_value(std::uint64_t offset_bytes) const {
  const auto word =
      std::ranges::lower_bound(words_, offset_bytes, {}, &kernels::WordWrite::offset_bytes);
  return word != words_.end() && word->offset_bytes == offset_bytes ? word->value : 0;
}

void ChaseMemory::queue() {
  const cudaStream_t stream = session_.stream();
  if (path_ == LoadPath::constant) {
    SONDE_CUDA_CHECK(kernels::fill_constant_bank(session_.arrays().device(bank_), stream));
  } else if (list_ != nullptr) {
    SONDE_CUDA_CHECK(kernels::link_words(
        data_, {session_.arrays().device(listed_), listed_.count, list_->shares}, stream));
  } else {
    SONDE_CUDA_CHECK(
        kernels::scatter_words(data_, session_.arrays().device(writes_), writes_.count, stream));
  }
  if (path_ == LoadPath::texture_2d) session_.texture().fill_rows(data_, stream);
  if (probe_.preparation == Preparation::flushed) session_.flush_caches(buffer_bytes_);
}

}  // namespace sonde::cuda
