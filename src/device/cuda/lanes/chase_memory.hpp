// What the loads of a chase find: words in global memory, in the constant bank or in a texture, and
// what is stored among them. Made for one probe: construct, give it the words, queue.
#pragma once

#include "device/cuda/lanes/chase_launch.hpp"
#include "kernels/memory.hpp"

#include <vector>

namespace sonde::cuda {

/// The kernel's name of a load path. @throws Error for `instruction`, whose blocks are not loaded
kernels::ChasePath to_chase_path(LoadPath path);

class ChaseMemory {
 public:
  /// Has the memory that the path of the lanes reads.
  /// @pre all take the same one
  /// @throws DeviceError if it cannot span the probe's buffer
  ChaseMemory(Session& session, const ChaseProbe& probe, kernels::Order order);

  /// What a word holds that leads to an offset.
  std::uint64_t place(std::uint64_t offset_bytes) const;

  /// Takes the words that the loads will find: adds arrays to the session's, fills them, and tells
  /// the launch what it must know of them.
  void add(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan);
  /// The same for a list that the device makes a chain of. @pre places are addresses
  void add(const layout::ListPlan& list, ChaseLaunchPlan& plan);

  /// Queues the words on their way, and the flush if there is to be one.
  void queue();

 private:
  void add_rehearsal(ChaseLaunchPlan& plan);
  void add_bank(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan);
  void add_stores(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan);

  Session& session_;
  const ChaseProbe& probe_;
  LoadPath path_;
  std::byte* data_ = nullptr;
  std::uint64_t texture_ = 0;
  std::uint64_t buffer_bytes_ = 0;            // its span, as layout::RehearsalPlace has it
  std::uint64_t rehearsal_offset_bytes_ = 0;  // in the buffer, for paths without addresses
  bool zeros_ = false;                        // a script's words
  Input<kernels::WordWrite> writes_;
  Input<std::uint32_t> bank_;
  kernels::LinkedList list_{};  // else words
};

}  // namespace sonde::cuda
