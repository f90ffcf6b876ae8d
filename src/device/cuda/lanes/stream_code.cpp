// Chooses the template arguments of a stream's kernel, and lays out its groups.
#include "device/cuda/lanes/stream_code.hpp"

#include "device/device_error.hpp"

#include <algorithm>
#include <set>

namespace sonde::cuda {
namespace {

static_assert(bulk_stages == kernels::stream_bulk_stages);
static_assert(stream_chunk_bytes == kernels::stream_group_chunk_bytes);
static_assert(most_stream_groups == kernels::stream_most_groups);

static_assert(as_kernel<kernels::StreamWork>(StreamKind::add) == kernels::StreamWork::add);
static_assert(as_kernel<kernels::Load>(LoadPath::past_l1) == kernels::Load::cg);
static_assert(as_kernel<kernels::StreamHint>(StreamHint::write_through) ==
              kernels::StreamHint::write_through);
static_assert(as_kernel<kernels::StreamEngine>(StreamEngine::bulk) == kernels::StreamEngine::bulk);

kernels::Load to_load(LoadPath path) {
  if (path <= LoadPath::past_l1) return as_kernel<kernels::Load>(path);
  throw_device_error(
      "no stream goes through the path {} (streams are of plain loads). Ask for ca or cg",
      to_text(path));
}

void check_threads(const DeviceInfo& info, const StreamProbe& probe) {
  const int most = std::min(kernels::stream_max_threads(probe.element_bytes, probe.ilp),
                            info.max_threads_per_block);
  if (probe.block_threads <= most) return;
  throw_device_error(
      "a stream with ilp {} and {} B elements has at most {} threads in a block (more would "
      "spill registers). Ask for fewer",
      probe.ilp, probe.element_bytes, most);
}

void check_bulk(const DeviceInfo& info, const StreamProbe& probe) {
  constexpr int least_major = 9;  // PTX ISA, cp.async.bulk
  if (info.compute_major < least_major) {
    throw_device_error(
        "bulk copies need compute capability {}.0 (this GPU has {}.{} and lacks the engine). Use "
        "streams of threads",
        least_major, info.compute_major, info.compute_minor);
  }
  const std::uint64_t pass_bytes = probe.footprint_bytes / (probe.kind == StreamKind::copy ? 2 : 1);
  if (pass_bytes % stream_tile_bytes(probe) != 0) {
    throw_device_error(
        "a bulk stream of {} B in tiles of {} is not possible (the engine moves whole tiles). Ask "
        "for a multiple",
        pass_bytes, stream_tile_bytes(probe));
  }
}

}  // namespace

kernels::Kernel<kernels::StreamLaunch> choose_stream_kernel(const DeviceInfo& info,
                                                            const StreamProbe& probe) {
  if (probe.footprint_bytes % 64 != 0) {
    throw_device_error("the footprint of a stream must be a multiple of 64 B");
  }
  const bool is_bulk = probe.engine == StreamEngine::bulk;
  if (is_bulk) check_bulk(info, probe);
  const auto kernel =
      kernels::find_stream({.work = as_kernel<kernels::StreamWork>(probe.kind),
                            .load = to_load(probe.path),
                            .hint = as_kernel<kernels::StreamHint>(probe.hint),
                            .engine = as_kernel<kernels::StreamEngine>(probe.engine),
                            .element_bytes = probe.element_bytes,
                            .ilp = probe.ilp,
                            .has_groups = !probe.groups.empty(),
                            .times_tiles = probe.timed_tiles > 0});
  if (kernel == nullptr) {
    throw_device_error(
        "such a stream with ilp {} is not compiled (1, 2, 4, 8 and 16 are; with hints or timed "
        "tiles, one of both, of plain loads of 16 B). Ask for one of these",
        probe.ilp);
  }
  if (!is_bulk) check_threads(info, probe);
  return kernel;
}

namespace {

std::uint64_t count_chunks(const StreamProbe& probe) {
  std::uint64_t chunks = 0;
  for (const StreamGroup& group : probe.groups) chunks += group.chunk_offsets_bytes.size();
  return chunks;
}

}  // namespace

StreamGroups::StreamGroups(Session& session, const StreamProbe& probe)
    : session_(session),
      probe_(probe),
      group_of_sm_(session.arrays().add_input<std::int32_t>(kernels::max_sms)),
      lists_(session.arrays().add_input<std::uint32_t>(count_chunks(probe))),
      ranks_(session.arrays().add_output<std::uint32_t>(kernels::stream_most_groups)) {
  auto next = lists_.host.begin();
  for (std::size_t i = 0; i < probe.groups.size(); ++i) {
    for (const int sm : probe.groups[i].sms) {
      group_of_sm_.host[static_cast<std::size_t>(sm)] = static_cast<std::int32_t>(i);
    }
    next = std::ranges::transform(
               probe.groups[i].chunk_offsets_bytes, next,
               [](std::uint64_t offset_bytes) {
                 return static_cast<std::uint32_t>(offset_bytes / stream_chunk_bytes);
               })
               .out;
  }
}

kernels::StreamGroupsLaunch StreamGroups::describe() const {
  kernels::StreamGroupsLaunch launch;
  launch.group_of_sm = group_of_sm_.device;
  launch.lists = lists_.device;
  launch.ranks = ranks_.device;
  launch.warp_chunks = static_cast<std::uint32_t>(stream_warp_chunks(probe_));
  const auto warps_per_sm = static_cast<std::uint32_t>(probe_.blocks / session_.info().sm_count *
                                                       (probe_.block_threads / 32));
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < probe_.groups.size(); ++i) {
    const auto chunks = static_cast<std::uint32_t>(probe_.groups[i].chunk_offsets_bytes.size());
    launch.of[i] = {
        .begin = begin,
        .chunks = chunks,
        .warps = warps_per_sm * static_cast<std::uint32_t>(probe_.groups[i].sms.size())};
    begin += chunks;
  }
  return launch;
}

std::uint64_t StreamGroups::covered_chunks() const {
  std::set<std::uint64_t> covered;
  const kernels::StreamGroupsLaunch launch = describe();
  for (std::size_t i = 0; i < probe_.groups.size(); ++i) {
    const std::vector<std::uint64_t>& list = probe_.groups[i].chunk_offsets_bytes;
    const std::uint64_t taken = std::uint64_t{launch.of[i].warps} * launch.warp_chunks;
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(taken, list.size()));
    covered.insert(list.begin(), list.begin() + count);
  }
  return covered.size();
}

}  // namespace sonde::cuda
