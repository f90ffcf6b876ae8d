// Lists of chunks, one after the other, and the group of each SM.
#include "device/cuda/stream_groups.hpp"

#include <algorithm>
#include <set>

namespace sonde::cuda {
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
