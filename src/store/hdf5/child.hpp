// First tries in a child process to read a file that may be damaged.
#pragma once

#include <functional>

namespace sonde {

/// Runs `work` in a forked process and drops its results. HDF5 trusts some fields of a damaged file
/// and then accesses memory out of bounds; here that ends only the child. Exceptions in the child
/// are ignored, since the caller does the same work again and gets them. Does nothing in a process
/// that uses MPI, which a fork can break.
/// @throws StoreError if a signal ended the child
void try_in_child(const std::function<void()>& work);

}  // namespace sonde
