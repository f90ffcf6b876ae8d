// The kernel of all arithmetic, and the parts of an operation. Measured: the latency of an
// operation (one warp, one chain) and the rate of an SM (many warps, several chains). The timed
// loop must contain hardly anything but operations. Operations that a compiler can fold (sums with
// the same number, unions of bits) take operands that change between steps. tests/sass counts the
// instructions of the loops.
#pragma once

#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/placement.cuh"

#include <cstdint>

namespace sonde::kernels {

template <class Number>
struct Operands {
  Number a;
  Number b;
  /// Alternate, for operations that the compiler would fold if the operands stayed the same.
  __device__ __forceinline__ Number first(int step) const { return step % 2 == 0 ? a : b; }
  __device__ __forceinline__ Number second(int step) const { return step % 2 == 0 ? b : a; }
};

/// A thread's parts of two multiplied matrices, in separate registers as instructions require.
template <class Number, int first_count, int second_count>
struct Fragments {
  Number first[first_count];
  Number second[second_count];
};

/// A chain of two numbers: each step computes one of them from both.
template <class Number>
struct Two {
  Number next;
  Number last;
};

/// Accumulators of a matrix operation.
template <class Number, int count>
struct Tile {
  Number element[count];
};

// Zero, but the compiler must assume that it differs between threads: a number plus this zero does
// not go into uniform registers or constant banks, which slow some operations down.
__device__ inline unsigned unknown_zero() { return threadIdx.y; }

__device__ inline void make(const ArithmeticLaunch& launch, Operands<std::uint32_t>& operands) {
  operands = {launch.word_a + unknown_zero(), launch.word_b + unknown_zero()};
}
__device__ inline void make(const ArithmeticLaunch& launch, Operands<int>& operands) {
  operands = {static_cast<int>(launch.word_a + unknown_zero()),
              static_cast<int>(launch.word_b + unknown_zero())};
}
__device__ inline void make(const ArithmeticLaunch& launch, Operands<std::uint64_t>& operands) {
  operands = {launch.word_a * 0x100000001ULL + unknown_zero(), launch.word_b + unknown_zero()};
}
__device__ inline void make(const ArithmeticLaunch& launch, Operands<float>& operands) {
  const auto zero = static_cast<float>(unknown_zero());
  operands = {launch.operand_a + zero, launch.operand_b + zero};
}
__device__ inline void make(const ArithmeticLaunch& launch, Operands<double>& operands) {
  const auto zero = static_cast<double>(unknown_zero());
  operands = {launch.operand_a + zero, launch.operand_b + zero};
}
template <class Number, int first_count, int second_count>
__device__ void make(const ArithmeticLaunch& launch,
                     Fragments<Number, first_count, second_count>& fragments) {
  Operands<Number> operands;
  make(launch, operands);
  for (int i = 0; i < first_count; ++i) {
    fragments.first[i] = operands.a + static_cast<Number>(threadIdx.x + i);
  }
  for (int i = 0; i < second_count; ++i) {
    fragments.second[i] = operands.b + static_cast<Number>(threadIdx.x + i);
  }
}

/// The first number of a chain.
template <class Number>
__device__ Number first_number(const Operands<Number>& operands, unsigned chain) {
  return operands.a + static_cast<Number>(chain);
}
template <class Number>
__device__ void begin(Number& value, const Operands<Number>& operands, unsigned chain) {
  value = first_number(operands, chain);
}
template <class Number>
__device__ void begin(Two<Number>& value, const Operands<Number>& operands, unsigned chain) {
  value = {first_number(operands, chain), operands.b};
}
template <class Number, int count, class Fragment>
__device__ void begin(Tile<Number, count>& tile, const Fragment&, unsigned chain) {
  for (int i = 0; i < count; ++i) tile.element[i] = static_cast<Number>(threadIdx.x + chain + i);
}

/// Bits that depend on all parts of a chain's value.
__device__ inline std::uint32_t bits(std::uint32_t value) { return value; }
__device__ inline std::uint32_t bits(int value) { return static_cast<std::uint32_t>(value); }
__device__ inline std::uint32_t bits(std::uint64_t value) {
  return static_cast<std::uint32_t>(value ^ value >> 32);
}
__device__ inline std::uint32_t bits(float value) { return __float_as_uint(value); }
__device__ inline std::uint32_t bits(double value) {
  return bits(static_cast<std::uint64_t>(__double_as_longlong(value)));
}
template <class Number>
__device__ std::uint32_t bits(const Two<Number>& value) {
  return bits(value.next) ^ bits(value.last);
}
template <class Number, int count>
__device__ std::uint32_t bits(const Tile<Number, count>& tile) {
  std::uint32_t all = 0;
  for (int i = 0; i < count; ++i) all ^= bits(tile.element[i]);
  return all;
}

/// Parts of an operation besides its name and step(): the chain's value and the operands.
template <class Value_, class Inputs_, int capability>
struct Operation {
  using Value = Value_;
  using Inputs = Inputs_;
  static constexpr int least_capability = capability;
};

/// Chains of one operation.
template <class Op>
class Chain {
 public:
  static constexpr int least_capability = Op::least_capability;
  static constexpr const char* op = Op::name;
  static constexpr const char* second = "";
  static constexpr bool this_alone = false;
  static constexpr unsigned most_warps = arithmetic_most_warps;
  static constexpr unsigned shared_bytes = arithmetic_shared_bytes;

  __device__ void start(const ArithmeticLaunch& launch, unsigned chain) {
    make(launch, operands_);
    begin(value_, operands_, chain);
  }
  __device__ __forceinline__ void begin_round() {}
  __device__ __forceinline__ void step(int number) { Op::step(value_, operands_, number); }
  __device__ __forceinline__ void end_round() {}
  __device__ std::uint32_t result() const { return bits(value_); }

 private:
  typename Op::Value value_;
  typename Op::Inputs operands_;
};

/// Independent chains of two operations, one step of each in turn.
template <class First, class Second>
class Pair {
 public:
  static constexpr int least_capability = First::least_capability > Second::least_capability
                                              ? First::least_capability
                                              : Second::least_capability;
  static constexpr const char* op = First::name;
  static constexpr const char* second = Second::name;
  static constexpr bool this_alone = false;
  static constexpr unsigned most_warps = arithmetic_most_warps;
  static constexpr unsigned shared_bytes = arithmetic_shared_bytes;

  __device__ void start(const ArithmeticLaunch& launch, unsigned chain) {
    first_.start(launch, chain);
    second_.start(launch, chain);
  }
  __device__ __forceinline__ void begin_round() {}
  __device__ __forceinline__ void step(int number) {
    first_.step(number);
    second_.step(number);
  }
  __device__ __forceinline__ void end_round() {}
  __device__ std::uint32_t result() const { return first_.result() ^ second_.result(); }

 private:
  Chain<First> first_;
  Chain<Second> second_;
};

/// Begin and end of each warp of a block, the threads' results, and the block's SM and rank, which
/// would otherwise occupy registers.
struct WarpTimes {
  std::uint64_t begin_cycles[arithmetic_most_warps];
  std::uint64_t end_cycles[arithmetic_most_warps];
  std::uint32_t sink[arithmetic_most_warps * 32];
  std::uint32_t sm;
  std::int32_t rank;
};
static_assert(sizeof(WarpTimes) == arithmetic_shared_bytes);

__device__ inline std::uint64_t span_of(const WarpTimes& times, unsigned warps) {
  std::uint64_t first = times.begin_cycles[0];
  std::uint64_t last = times.end_cycles[0];
  for (unsigned warp = 1; warp < warps; ++warp) {
    first = min(first, times.begin_cycles[warp]);
    last = max(last, times.end_cycles[warp]);
  }
  return last - first;
}

template <class Program, int ilp, int body_steps>
__device__ __forceinline__ std::uint32_t run_rounds(Program (&chains)[ilp], std::uint32_t rounds) {
  const unsigned one = unknown_one();
#pragma unroll 1
  for (std::uint32_t round = 0; round < rounds; round += one) {
    for (Program& chain : chains) chain.begin_round();
#pragma unroll
    for (int step = 0; step < body_steps; ++step) {
#pragma unroll
      for (int chain = 0; chain < ilp; ++chain) chains[chain].step(step);
    }
    for (Program& chain : chains) chain.end_round();
  }
  std::uint32_t all = 0;
  for (const Program& chain : chains) all ^= chain.result();
  return all;
}

template <class Program, int ilp, int body_steps>
__device__ void time_rounds(const ArithmeticLaunch& launch, int rank) {
  extern __shared__ __align__(128) unsigned char shared[];
  WarpTimes& times = *reinterpret_cast<WarpTimes*>(shared);
  if (threadIdx.x == 0) {
    times.sm = read_sm();
    times.rank = rank;
  }
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t sink = shared_address(&times.sink[threadIdx.x]);
  // All threads of a warp write the same value.
  const std::uint32_t begin_cycles = shared_address(&times.begin_cycles[warp]);
  const std::uint32_t end_cycles = shared_address(&times.end_cycles[warp]);
  Program chains[ilp];
  for (int chain = 0; chain < ilp; ++chain) chains[chain].start(launch, chain);
  for (std::uint32_t pass = 0; pass < launch.passes; ++pass) {
    const std::uint32_t rounds = pass == 0 ? 1 : launch.rounds;
    if (!pass_barrier()) return;
    store_shared_u64(begin_cycles, read_clock());
    const std::uint32_t all = run_rounds<Program, ilp, body_steps>(chains, rounds);
    store_shared_u32(sink, all);  // waits for the last step
    store_shared_u64(end_cycles, read_clock());
  }
  if (!pass_barrier() || threadIdx.x > 0) return;
  launch.results[times.rank] = {lane_status(true, times.sm), times.sm,
                                span_of(times, blockDim.x / 32), 0};
}

template <class Program, int ilp, int body_steps>
__global__ void __launch_bounds__(Program::most_warps * 32, 1)
    arithmetic_kernel(const __grid_constant__ ArithmeticLaunch launch) {
#if defined(__CUDA_ARCH__)
  if constexpr (__CUDA_ARCH__ >= 10 * Program::least_capability) {
    const int rank = hold_wanted_sm(launch.placement);
    if (rank >= 0) time_rounds<Program, ilp, body_steps>(launch, rank);
  }
#endif
}

template <class Program, int ilp, int body_steps>
constexpr ArithmeticKernel arithmetic_row() {
  return {
      Program::op,         Program::second,           ilp,
      body_steps,          Program::least_capability, Program::this_alone,
      Program::most_warps, Program::shared_bytes,     arithmetic_kernel<Program, ilp, body_steps>};
}

// Operations per round: so many that the jump back costs little (three instructions and a bubble),
// but at most 4 KiB of code, which fits into the first code caches (job cache.instruction).
inline constexpr int body_operations = 256;
inline constexpr int body_sequences = 32;  // for operations that are sequences of instructions

/// Kernels with one chain, and with four, which keep a pipeline busy.
/// @param operations in a round
template <int operations, class... Ops>
struct ArithmeticRows {
  static constexpr ArithmeticKernel rows[2 * sizeof...(Ops)] = {
      arithmetic_row<Chain<Ops>, 1, operations>()...,
      arithmetic_row<Chain<Ops>, 4, operations / 4>()...};
};

/// Kernels of one operation with several numbers of chains.
template <int operations, class Op>
struct ArithmeticSweep {
  static constexpr ArithmeticKernel rows[4] = {arithmetic_row<Chain<Op>, 1, operations>(),
                                               arithmetic_row<Chain<Op>, 2, operations / 2>(),
                                               arithmetic_row<Chain<Op>, 4, operations / 4>(),
                                               arithmetic_row<Chain<Op>, 8, operations / 8>()};
};

/// The row of this kernel in the tables; nullptr if there is none.
template <class... Tables>
const ArithmeticKernel* find_in(std::string_view op, std::string_view second, int ilp) {
  const ArithmeticKernel* found = nullptr;
  const auto look = [&](const auto& rows) {
    for (const ArithmeticKernel& row : rows) {
      if (op == row.op && second == row.second && ilp == row.ilp) found = &row;
    }
  };
  (look(Tables::rows), ...);
  return found;
}

// The kernels of each file; arithmetic_lookup.cu searches all of them.
const ArithmeticKernel* find_integer_arithmetic(std::string_view op, int ilp);
const ArithmeticKernel* find_single_arithmetic(std::string_view op, int ilp);
const ArithmeticKernel* find_other_arithmetic(std::string_view op, int ilp);
const ArithmeticKernel* find_matrix_arithmetic(std::string_view op, int ilp);
const ArithmeticKernel* find_group_arithmetic(std::string_view op, int ilp);
const ArithmeticKernel* find_arithmetic_pair(std::string_view op, std::string_view second, int ilp);

}  // namespace sonde::kernels

// An operation on a chain (%0) in PTX, with two operands that are swapped in every step (%1, %2),
// and the first operand, unswapped (%3). The type is named like the operation: tests/sass reads the
// name from the kernel. Volatile, so that steps are not merged before ptxas sees them.
#define SONDE_OPERATION(operation, number, constraint, capability, ptx)                          \
  struct operation : Operation<number, Operands<number>, capability> {                           \
    static constexpr const char* name = #operation;                                              \
    static __device__ __forceinline__ void step(number& value, const Inputs& of, int turn) {     \
      asm volatile(ptx                                                                           \
                   : "+" constraint(value)                                                       \
                   : constraint(of.first(turn)), constraint(of.second(turn)), constraint(of.a)); \
    }                                                                                            \
  }

// The same for a chain of two numbers: computes %0 from itself, the other (%1) and an operand (%2).
#define SONDE_OPERATION_ON_TWO(operation, number, constraint, capability, ptx)              \
  struct operation : Operation<Two<number>, Operands<number>, capability> {                 \
    static constexpr const char* name = #operation;                                         \
    static __device__ __forceinline__ void step(Value& value, const Inputs& of, int turn) { \
      number made = value.next;                                                             \
      asm volatile(ptx                                                                      \
                   : "+" constraint(made)                                                   \
                   : constraint(value.last), constraint(of.first(turn)));                   \
      value = {value.last, made};                                                           \
    }                                                                                       \
  }
