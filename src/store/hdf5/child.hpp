// Work with a file of strangers, tried in a process of its own first.
#pragma once

#include <functional>

namespace sonde {

/// Runs `work` in a forked process that gives nothing back: HDF5 believes some of what a damaged
/// file says, and reads or writes beyond its own memory then. An exception there is none here: the
/// caller does the same work again, and gets it. Runs nothing in a process that uses MPI, which
/// need not survive a fork.
/// @throws StoreError if a signal ended the process
void try_in_child(const std::function<void()>& work);

}  // namespace sonde
