// The warps of one block of a simulated GPU: their threads, the paths on which those stand, and the
// barriers and words of shared memory by which they wait for each other. The plays of control flow
// write small programs for them.
#pragma once

#include "base/gpu_facts.hpp"
#include "device/sim/model/units.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sonde::sim {

using ThreadMask = std::uint32_t;
inline constexpr ThreadMask whole_warp = 0xffffffff;

enum class SimtOp {
  branch,     // `threads` go on at `target`, the others at the next instruction; join at `join`
  jump,       // to `target`
  operate,    // one dependent operation
  stamp,      // the time into `slot` of each thread
  signal,     // `word` becomes `value`
  release,    // `word` becomes the number of the thread plus one
  count,      // `word` grows by the number of threads
  await,      // spins until `word` is `value`; the time, or 0 for those who give up, into `slot`
  await_own,  // spins until `word` is the number of the thread; likewise
  barrier,    // waits until `value` threads have come
  arrive,     // comes to it without waiting
  delay,      // `value` cycles
  leave_if,   // goes to `target` if `word` is `value`
  end
};

struct SimtInstruction {
  SimtOp op = SimtOp::end;
  ThreadMask threads = 0;
  int target = 0;
  int join = 0;
  std::size_t word = 0;
  std::uint32_t value = 0;
  std::size_t slot = 0;
};

/// Cycles that are declared elsewhere than in the section on control flow.
struct SimtCosts {
  std::uint32_t look_cycles = 0;   // of a load from shared memory
  std::uint32_t stamp_cycles = 0;  // of reading the clock
};

inline constexpr std::size_t simt_slots = 8;

class SimtBlock {
 public:
  /// @param limit_cycles after which a spinning thread gives up
  SimtBlock(const ControlModel& model, const SimtCosts& costs, std::uint64_t limit_cycles);

  void add_warp(std::vector<SimtInstruction> program, std::uint64_t start_cycles);

  /// Runs all warps to their end. @throws DeviceError if some wait at a barrier for ever
  void run();

  /// When that thread passed that stamp; 0: never, or it gave up.
  std::uint64_t stamp(std::size_t warp, std::size_t thread, std::size_t slot) const {
    return warps_[warp].stamps[thread][slot];
  }
  std::uint64_t end_cycles() const;

 private:
  /// Threads that stand at the same place. A path that waits for others at a join holds the mask
  /// of all of them, and which have come.
  struct Path {
    int number = 0;
    int parent = -1;  // at whose join it ends
    ThreadMask mask = 0;
    int at = 0;
    int join = -1;
    bool joining = false;
    ThreadMask joined = 0;
    bool at_barrier = false;
  };
  struct Warp {
    std::vector<SimtInstruction> program;
    std::vector<Path> paths;  // the last one runs
    int numbers = 0;
    std::uint64_t time = 0;
    bool held = false;  // as a whole, at a barrier that counts warps
    std::array<std::array<std::uint64_t, simt_slots>, warp_threads> stamps{};
  };

  void step(Warp& warp);
  void split(Warp& warp, ThreadMask taken, const SimtInstruction& branch);
  void spin(Warp& warp, const SimtInstruction& wait);
  void come_to_barrier(Warp& warp, const SimtInstruction& barrier);
  void count_arrival(std::uint32_t threads, std::uint32_t wanted, std::uint64_t time);
  void end_path(Warp& warp);
  void let_others_run(Warp& warp);
  bool next_runnable(Warp& warp) const;

  const ControlModel& model_;
  SimtCosts costs_;
  std::uint64_t limit_cycles_;
  std::vector<Warp> warps_;
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t arrived_ = 0;
};

}  // namespace sonde::sim
