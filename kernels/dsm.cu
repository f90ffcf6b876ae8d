// Hardware effect: a load from the shared memory of another block of the cluster uses the network
// between the SMs of a GPC. The chase measures its latency, the stream its bytes per cycle. Sources
// of error: ld.shared::cluster reads a slow special register (S2R SR_SWINHI) before each load,
// inside the timed window (so the loads use generic addresses, from mapa, and the chain consists of
// them); a block that ends while it is read (cluster barriers before and after); loads that the
// compiler makes once for all passes of a stream, since nobody writes in between (each pass reads
// from an address that the compiler cannot know); several readers in a cluster during latencies
// (they take turns at the cluster barrier); instruction misses (a rehearsal).
#include "kernels/cluster.cuh"
#include "kernels/dsm.hpp"
#include "kernels/pattern.cuh"
#include "kernels/placement.cuh"

namespace sonde::kernels {
namespace {

/// Words of the chain, each in another bank than the one before.
constexpr std::uint32_t ring_words = 64;
constexpr std::uint32_t ring_step_bytes = 136;
constexpr std::uint32_t ring_offset_bytes = 256;  // after the sink
constexpr std::uint32_t record_offset_bytes = ring_offset_bytes + ring_words * ring_step_bytes;

#if __CUDA_ARCH__ >= 900

constexpr std::uint32_t rehearsed_accesses = 4;

__device__ __forceinline__ std::uint64_t load_generic(std::uint64_t address) {
  std::uint64_t value;
  asm volatile("ld.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ __forceinline__ uint4 load_element(std::uint64_t address) {
  uint4 value;
  asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address)
               : "memory");
  return value;
}

/// Waits until all blocks of the launch have arrived. @return false if the deadline passed first
__device__ bool meet_all(PlacementState& state, const Deadline& deadline) {
  atomicAdd(&state.arrived, 1u);
  return wait_for(state.arrived, gridDim.x, deadline, 20);
}

/// The place in the chain of this rank after a number of loads.
__device__ std::uint64_t ring_place(const unsigned char* own, std::uint32_t rank,
                                    std::uint32_t loads) {
  return map_to_rank(own + ring_offset_bytes + loads % ring_words * ring_step_bytes, rank);
}

__device__ void link_ring(unsigned char* own, std::uint32_t rank) {
  for (std::uint32_t i = threadIdx.x; i < ring_words; i += blockDim.x) {
    *reinterpret_cast<std::uint64_t*>(own + ring_offset_bytes + i * ring_step_bytes) =
        ring_place(own, rank, i + 1);
  }
}

__device__ std::uint64_t timed_loads(std::uint64_t place, std::uint32_t sink, std::uint32_t record,
                                     std::uint32_t count) {
  const unsigned one = unknown_one();
#pragma unroll 1
  for (std::uint32_t i = 0; i < count; i += one) {
    const std::uint64_t begin = read_clock();
    place = load_generic(place);
    store_shared_u32(sink, static_cast<std::uint32_t>(place));
    const std::uint64_t end = read_clock();
    store_shared_u16(record, cycles_between(begin, end));
    record += 2;
  }
  return place;
}

/// One pair, by one thread.
__device__ LaneResult chase_pair(const DsmChaseLaunch& launch, unsigned char* own,
                                 std::uint32_t target, std::uint32_t record) {
  const std::uint32_t sm = read_sm();
  std::uint64_t place = ring_place(own, target, 0);
  std::uint64_t elapsed_cycles = 0;
  std::uint32_t loads = 0;
  for (std::uint32_t round = 0; round < launch.rounds; ++round) {
    const std::uint32_t count =
        round == 0 ? min(launch.accesses, rehearsed_accesses) : launch.accesses;
    const std::uint64_t begin = read_clock();
    place = timed_loads(place, shared_address(own), record, count);
    elapsed_cycles = cycles_since(begin);
    loads += count;
  }
  const bool wrong = place != ring_place(own, target, loads);
  return {lane_status(true, sm), sm, elapsed_cycles, wrong ? 1u : 0u};
}

#endif

__global__ void __launch_bounds__(32, 1)
    dsm_chase_kernel(const __grid_constant__ DsmChaseLaunch launch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(256) unsigned char shared[];
  const std::uint32_t rank = read_cluster_rank();
  const std::uint32_t blocks = read_cluster_blocks();
  const std::uint64_t first_lane =
      (std::uint64_t{read_cluster()} * blocks + rank) * std::uint64_t{blocks};
  const Deadline deadline(launch.common.limit_ns);
  link_ring(shared, rank);
  const bool in_time = threadIdx.x > 0 || meet_all(*launch.common.state, deadline);
  __syncwarp();
  sync_cluster();
  for (std::uint32_t reader = 0; reader < blocks; ++reader) {
    if (reader == rank && threadIdx.x == 0) {
      for (std::uint32_t target = 0; target < blocks; ++target) {
        const std::uint32_t record =
            shared_address(shared) + record_offset_bytes + target * launch.accesses * 2;
        LaneResult result = chase_pair(launch, shared, target, record);
        if (!in_time) result.status = LaneStatus::timed_out;
        launch.common.results[first_lane + target] = result;
      }
    }
    __syncwarp();
    sync_cluster();
  }
  const auto* record = reinterpret_cast<const std::uint16_t*>(shared + record_offset_bytes);
  for (std::uint32_t i = threadIdx.x; i < blocks * launch.accesses; i += blockDim.x) {
    launch.records[first_lane * launch.accesses + i] = record[i];
  }
#endif
}

#if __CUDA_ARCH__ >= 900

/// The content of a word in the memory of this rank.
__device__ std::uint32_t word_of_rank(std::uint32_t rank, std::uint32_t word) {
  constexpr std::uint64_t rank_words = 1 << 14;  // of the largest block
  return pattern_word(rank * rank_words + word);
}

/// First word of the thread's j-th element.
__device__ std::uint32_t first_word(int j) { return (j * blockDim.x + threadIdx.x) * 4; }

__device__ void fill_own(std::uint32_t* own, std::uint32_t rank) {
  for (int j = 0; j < dsm_ilp; ++j) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      own[first_word(j) + k] = word_of_rank(rank, first_word(j) + k);
    }
  }
}

/// The sum of the words of a pass.
__device__ std::uint32_t expected_sum(std::uint32_t rank) {
  std::uint32_t sum = 0;
  for (int j = 0; j < dsm_ilp; ++j) {
    for (std::uint32_t k = 0; k < 4; ++k) sum += word_of_rank(rank, first_word(j) + k);
  }
  return sum;
}

__device__ __forceinline__ std::uint32_t read_pass(std::uint64_t begin, std::uint32_t stride) {
  uint4 values[dsm_ilp];
#pragma unroll
  for (int j = 0; j < dsm_ilp; ++j) values[j] = load_element(begin + j * stride);
  std::uint32_t sum = 0;
#pragma unroll
  for (const uint4& value : values) sum += value.x + value.y + value.z + value.w;
  return sum;
}

#endif

__global__ void __launch_bounds__(1024, 1)
    dsm_stream_kernel(const __grid_constant__ DsmStreamLaunch launch) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(256) unsigned char shared[];
  const std::uint32_t rank = read_cluster_rank();
  const std::uint32_t blocks = read_cluster_blocks();
  const std::uint32_t target = (rank + launch.distance) % blocks;
  const std::uint32_t lane = read_cluster() * blocks + rank;
  PlacementState& state = *launch.common.state;
  const Deadline deadline(launch.common.limit_ns);
  fill_own(reinterpret_cast<std::uint32_t*>(shared), rank);
  const std::uint64_t from = map_to_rank(shared, target) + threadIdx.x * 16;
  sync_cluster();
  bool in_time = true;
  if (threadIdx.x == 0) {
    in_time = meet_all(state, deadline);
    if (launch.in_turn != 0) in_time = wait_for_turn(state, lane, deadline) && in_time;
  }
  if (!pass_barrier()) return;
  const std::uint32_t sm = read_sm();
  const std::uint64_t begin = read_clock();
  std::uint32_t sum = 0;
  std::uint64_t place = from;
  const unsigned step_bytes =
      (unknown_one() - 1) * 16;  // 0, but unknown to the compiler: no pass may be removed
#pragma unroll 1
  for (std::uint32_t pass = 0; pass < launch.passes; ++pass, place += step_bytes) {
    sum += read_pass(place, blockDim.x * 16);
    if (pass % 1024 == 1023 && deadline.passed()) in_time = false;
  }
  if (!pass_barrier()) return;
  const std::uint64_t end = read_clock();
  const bool wrong = __syncthreads_or(sum != launch.passes * expected_sum(target)) != 0;
  if (threadIdx.x == 0) {
    atomicAdd(&state.turn, 1u);
    launch.common.results[lane] = {lane_status(in_time, sm), sm, end - begin, wrong ? 1u : 0u};
  }
  sync_cluster();
#endif
}

}  // namespace

unsigned dsm_chase_bytes(int cluster_blocks, std::uint32_t accesses) {
  return record_offset_bytes + static_cast<unsigned>(cluster_blocks) * accesses * 2;
}

const Kernel<DsmChaseLaunch> dsm_chase = dsm_chase_kernel;
const Kernel<DsmStreamLaunch> dsm_stream = dsm_stream_kernel;

}  // namespace sonde::kernels
