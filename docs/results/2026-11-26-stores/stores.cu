// What a store leaves in the L1 and in the L2 of a GPU, by width and cache operator, and when
// another SM sees it. A program of its own, without sonde:
//
//     nvcc -O2 -arch=sm_90 -o stores stores.cu && ./stores
//     cuobjdump -sass stores | grep -E "CS2R|LDG|STS"     # each window: CS2R, LDG, STS of its
//     value, CS2R
//
// One thread of one SM. A line is 128 B; 64 lines, each in a 4 KiB block of its own, of one 2 MiB
// page whose translation is at hand. The L1 is empty when a kernel starts; the L2 is emptied by
// reads of 512 MiB.
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

constexpr int lines = 64;
constexpr std::uint64_t line_step = 4096;  // one line of each

enum Op { wb, cg, cs, wt, ops };
const char* const op_names[ops] = {"wb", "cg", "cs", "wt"};
enum Way { none, by_store, by_reduction, by_atomic, by_load };

template <int op>
__device__ void store(char* at, int bytes) {
#define STORE(suffix)                                                                              \
  if (bytes == 1) asm volatile("st.global." suffix ".u8 [%0], %1;" ::"l"(at), "r"(1) : "memory");  \
  if (bytes == 2)                                                                                  \
    asm volatile("st.global." suffix ".u16 [%0], %1;" ::"l"(at), "h"((short)1) : "memory");        \
  if (bytes == 4) asm volatile("st.global." suffix ".u32 [%0], %1;" ::"l"(at), "r"(1) : "memory"); \
  if (bytes == 8)                                                                                  \
    asm volatile("st.global." suffix ".u64 [%0], %1;" ::"l"(at), "l"(0x100000001ll) : "memory");   \
  if (bytes >= 16)                                                                                 \
    for (int part = 0; part < bytes; part += 16)                                                   \
      asm volatile("st.global." suffix ".v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at + part), "r"(1)  \
                   : "memory");
  if constexpr (op == wb) {
    STORE("wb")
  }
  if constexpr (op == cg) {
    STORE("cg")
  }
  if constexpr (op == cs) {
    STORE("cs")
  }
  if constexpr (op == wt) {
    STORE("wt")
  }
#undef STORE
}

template <bool through_l1>
__device__ unsigned load(const char* at) {
  unsigned value;
  if constexpr (through_l1)
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  else
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__device__ void wait_cycles(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

struct Trial {
  Way way;
  int bytes;         // of a store
  bool is_resident;  // each line is loaded first
  int asked;         // the place in the line that is loaded and timed
};

/// Cycles of a load of `asked` in each line, after each was stored to.
template <bool through_l1, int op>
__global__ void time_loads(char* data, Trial trial, unsigned* cycles, unsigned* values) {
  __shared__ unsigned kept[lines];
  unsigned sum = load<false>(data + lines * line_step);  // the translation
  if (trial.is_resident)
    for (int i = 0; i < lines; ++i) sum += load<through_l1>(data + i * line_step);
  kept[0] = sum;
  wait_cycles(20000);
  for (int i = 0; i < lines; ++i) {
    char* at = data + i * line_step;
    if (trial.way == by_store) store<op>(at, trial.bytes);
    if (trial.way == by_reduction) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    if (trial.way == by_atomic) kept[i] = atomicAdd(reinterpret_cast<unsigned*>(at), 1);
    if (trial.way == by_load) kept[i] = load<through_l1>(at);
  }
  wait_cycles(200000);
  for (int i = 0; i < lines; ++i) {
    const char* at = data + i * line_step + trial.asked;
    unsigned start, end;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(start)::"memory");
    const unsigned value = load<through_l1>(at);
    *static_cast<volatile unsigned*>(&kept[i]) = value;  // waits for the load
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end)::"memory");
    cycles[i] = end - start;
    values[i] = kept[i];
  }
}

__global__ void read_all(const uint4* data, std::size_t count, unsigned* sum) {
  unsigned all = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    all += __ldcg(&data[i]).x;
  if (all == 12345) *sum = all;
}

/// A load that no compiler moves out of a loop, as it does with weak ones, volatile or not.
__device__ unsigned load_strong(const char* at) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

/// One SM stores once and then reads its clock only, without a fence; another one asks the L2 for
/// the word again and again. Nanoseconds from the store until it is seen; 0: not within 2 ms.
template <int op>
__global__ void watch_store(char* data, bool is_resident, unsigned* gate, unsigned* sm,
                            long long* ns) {
  extern __shared__ char room[];  // so much that an SM has room for one block
  unsigned mine;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(mine));
  sm[blockIdx.x] = mine + (room == nullptr);
  long long start, now;
  if (blockIdx.x == 0) {
    if (is_resident) sm[2] = load<true>(data);
    atomicAdd(gate, 1);
    while (*static_cast<volatile unsigned*>(gate) < 2) {
    }
    wait_cycles(50000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start)::"memory");
    store<op>(data, 4);
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    while (now - start < 4000000);
    ns[0] = start;
  } else {
    atomicAdd(gate, 1);
    while (*static_cast<volatile unsigned*>(gate) < 2) {
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start)::"memory");
    ns[1] = 0;
    do {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
      if (load_strong(data) != 0) {
        ns[1] = now;
        break;
      }
    } while (now - start < 2000000);
  }
}

struct Bench {
  char* data;
  uint4* other;
  unsigned* cycles;
  unsigned* values;
  static constexpr std::size_t other_bytes = 512 << 20;

  Bench() {
    CHECK(cudaMalloc(&data, 4 << 20));
    CHECK(cudaMalloc(&other, other_bytes));
    CHECK(cudaMallocManaged(&cycles, lines * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&values, lines * sizeof(unsigned)));
    CHECK(cudaMemset(other, 0, other_bytes));
  }

  /// Loads below `bound` cycles in three tries, in percent, and where their first and last fifth
  /// end.
  template <bool through_l1, int op>
  void show(Trial trial, unsigned bound) {
    std::vector<unsigned> all;
    int wrong = 0;
    for (int round = 0; round < 3; ++round) {
      CHECK(cudaMemset(data, 0, 4 << 20));
      if (!through_l1) read_all<<<1024, 256>>>(other, other_bytes / sizeof(uint4), cycles);
      time_loads<through_l1, op><<<1, 1>>>(data, trial, cycles, values);
      CHECK(cudaDeviceSynchronize());
      all.insert(all.end(), cycles, cycles + lines);
      const bool is_stored = trial.way != none && trial.way != by_load && trial.asked < trial.bytes;
      for (int i = 0; i < lines; ++i) wrong += is_stored && values[i] == 0;
    }
    std::sort(all.begin(), all.end());
    const auto hits = std::lower_bound(all.begin(), all.end(), bound) - all.begin();
    std::printf(" %5.1f %% (%3u %3u)%s", 100.0 * hits / all.size(), all[all.size() / 5],
                all[all.size() * 4 / 5], wrong ? " WRONG DATA" : "");
  }

  template <bool through_l1, int op>
  void show_row(const char* what, Trial trial, unsigned bound) {
    std::printf("%-34s", what);
    for (int asked : {0, 4, 16, 32, 64, 96}) {
      trial.asked = asked;
      show<through_l1, op>(trial, bound);
    }
    std::printf("\n");
  }

  template <int op>
  void show_l1() {
    char what[64];
    for (bool is_resident : {false, true})
      for (int bytes : {1, 2, 4, 8, 16, 32, 128}) {
        std::snprintf(what, sizeof what, "st.%s %3d B, line %s", op_names[op], bytes,
                      is_resident ? "resident" : "not there");
        show_row<true, op>(what, {by_store, bytes, is_resident, 0}, 100);
      }
  }

  template <int op>
  void show_watched(int tries) {
    for (bool is_resident : {false, true}) {
      std::printf("st.%s, line %-9s seen after ns:", op_names[op],
                  is_resident ? "resident" : "not there");
      for (int i = 0; i < tries; ++i) {
        CHECK(cudaMemset(data, 0, 4096));
        CHECK(cudaMemset(cycles, 0, lines * sizeof(unsigned)));
        long long* ns = reinterpret_cast<long long*>(other);
        const auto kernel = watch_store<op>;
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10));
        kernel<<<2, 1, 160 << 10>>>(data, is_resident, cycles, values, ns);
        CHECK(cudaDeviceSynchronize());
        long long seen[2];
        CHECK(cudaMemcpy(seen, ns, sizeof seen, cudaMemcpyDeviceToHost));
        if (values[0] == values[1])
          std::printf(" one SM");
        else if (seen[1] == 0)
          std::printf(" never");
        else
          std::printf(" %lld", seen[1] - seen[0]);
      }
      std::printf("\n");
    }
  }
};

int main() {
  cudaDeviceProp gpu;
  CHECK(cudaGetDeviceProperties(&gpu, 0));
  std::printf("%s\n", gpu.name);
  Bench bench;
  std::printf(
      "\nld.ca after stores: loads below 100 cycles (first and last fifth), by place in the "
      "line\n%-34s",
      "");
  for (int place : {0, 4, 16, 32, 64, 96}) std::printf("  at %3d           ", place);
  std::printf("\n");
  bench.show_row<true, wb>("nothing, line not there", {none, 0, false, 0}, 100);
  bench.show_row<true, wb>("nothing, line resident", {none, 0, true, 0}, 100);
  bench.show_row<true, wb>("ld.ca at 0", {by_load, 0, false, 0}, 100);
  bench.show_l1<wb>();
  bench.show_l1<cg>();
  bench.show_l1<cs>();
  bench.show_l1<wt>();
  std::printf(
      "\nld.cg behind an emptied L2: loads below 560 cycles (first and last fifth), by place in "
      "the line\n");
  bench.show_row<false, cg>("nothing", {none, 0, false, 0}, 560);
  bench.show_row<false, cg>("nothing, line resident", {none, 0, true, 0}, 560);
  bench.show_row<false, cg>("ld.cg at 0", {by_load, 0, false, 0}, 560);
  for (int bytes : {1, 4, 16, 32, 64, 128}) {
    char what[64];
    std::snprintf(what, sizeof what, "st.cg %d B", bytes);
    bench.show_row<false, cg>(what, {by_store, bytes, false, 0}, 560);
  }
  bench.show_row<false, wb>("st.wb 4 B", {by_store, 4, false, 0}, 560);
  bench.show_row<false, wt>("st.wt 4 B", {by_store, 4, false, 0}, 560);
  bench.show_row<false, cg>("red.add 4 B", {by_reduction, 4, false, 0}, 560);
  bench.show_row<false, cg>("atom.add 4 B", {by_atomic, 4, false, 0}, 560);
  std::printf("\nA store without a fence, as another SM sees it in the L2\n");
  bench.show_watched<wb>(5);
  bench.show_watched<cg>(5);
  bench.show_watched<cs>(5);
  bench.show_watched<wt>(5);
}
