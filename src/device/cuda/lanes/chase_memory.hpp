// The words that the loads of a chase read, in global memory, in the constant bank or in a texture,
// and its stores. Made for one probe: construct it, add the words, queue them.
#pragma once

#include "device/cuda/lanes/chase_launch.hpp"
#include "kernels/memory.hpp"

#include <vector>

namespace sonde::cuda {

class ChaseMemory {
 public:
  /// Takes the memory that the load path of the lanes reads.
  /// @pre all lanes take the same path
  /// @throws DeviceError if that memory cannot hold the probe's buffer
  ChaseMemory(Session& session, const ChaseProbe& probe, kernels::Order order);

  /// The value of a word that leads to an offset.
  std::uint64_t place(std::uint64_t offset_bytes) const;

  /// Takes the words that the loads will read: adds arrays to the session, fills them, and tells
  /// the launch of them.
  void add(std::vector<kernels::WordWrite> words, ChaseLaunchPlan& plan);
  /// The same for a list of which the device makes a chain. @pre places are addresses
  void add(const layout::ListPlan& list, ChaseLaunchPlan& plan);

  /// Queues the writing of the words, and the flush if the probe asks for it.
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
  std::uint64_t buffer_bytes_ = 0;            // with the place of the rehearsal
  std::uint64_t rehearsal_offset_bytes_ = 0;  // in the buffer, for paths without addresses
  bool zeros_ = false;                        // all words are 0, as a script needs
  Input<kernels::WordWrite> writes_;
  Input<std::uint32_t> bank_;
  kernels::LinkedList list_{};  // used instead of writes_, if not empty
};

}  // namespace sonde::cuda
