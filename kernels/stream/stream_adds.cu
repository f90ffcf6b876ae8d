// Streams of reductions. Hardware effect: how many additions a second the L2 makes, to lines of
// their own and to one line that all want. They must be reductions that answer nothing: tests/sass
// checks it.
#include "kernels/stream/stream_kernel.cuh"

namespace sonde::kernels {
namespace {

constexpr int word_bytes = 4;

template <int ilp>
__global__ void __launch_bounds__(stream_max_threads(word_bytes, ilp), 1)
    adding_stream_kernel(const __grid_constant__ StreamLaunch launch) {
  run_stream<Access<StreamWork::add, Load::ca, word_bytes>, ilp>(launch);
}

__global__ void count_other_words_kernel(const std::uint32_t* words, std::uint64_t count,
                                         std::uint32_t expected, unsigned long long* mismatches) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long wrong = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    wrong += words[i] != expected ? 1 : 0;
  }
  if (wrong > 0) atomicAdd(mismatches, wrong);
}

}  // namespace

StreamKernel adding_stream(const StreamCode& code) {
  if (code.element_bytes != word_bytes) return nullptr;
  return select_kernel<StreamKernel, 1, 2, 4, 8, 16>(
      code.ilp, [](auto factor) { return adding_stream_kernel<factor.value>; });
}

cudaError_t count_other_words(const void* base, std::uint64_t words, std::uint32_t expected,
                              unsigned long long* mismatches, cudaStream_t stream) {
  constexpr unsigned threads = 256;
  constexpr std::uint64_t most_blocks = 1024;
  const std::uint64_t blocks = (words + threads - 1) / threads;
  count_other_words_kernel<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks),
                             threads, 0, stream>>>(static_cast<const std::uint32_t*>(base), words,
                                                   expected, mismatches);
  return cudaGetLastError();
}

}  // namespace sonde::kernels
