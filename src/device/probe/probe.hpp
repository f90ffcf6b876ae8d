// The seam: everything a job can ask of a GPU. A backend plays a ProbeSpec and returns a Trace;
// docs/decisions/0001-the-probe-seam.md says why, and what each kind is for.
#pragma once

#include "device/probe/arithmetic_probe.hpp"
#include "device/probe/constant_probe.hpp"
#include "device/probe/control_probe.hpp"
#include "device/probe/load_path.hpp"
#include "device/probe/pace_probe.hpp"
#include "device/probe/program_probe.hpp"
#include "device/probe/shared_probe.hpp"
#include "device/probe/stream_probe.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde {

/// Bytes of a row of a two-dimensional texture.
inline constexpr std::uint64_t texture_row_bytes = 4096;

/// State of caches and TLBs when the untimed accesses begin. `flushed`: as much as possible of all
/// data caches, TLBs and cached page tables holds other addresses.
enum class Preparation { as_is, flushed };

/// How a chase is warmed up. `dependent`: each load waits for the one before it. `overlapped`: many
/// loads at a time, in a fraction of the time; neighbours in the list may change places, and a
/// first-level cache may be empty afterwards. A device that cannot do so makes them dependent.
enum class WarmUp { dependent, overlapped };

/// Lanes of a chase run all at once, or one after the other, so that no lane disturbs another.
enum class Concurrency { together, in_turn };

/// The chase of one thread on one SM: it goes round the offsets, with one dependent load each.
/// Offsets count in the space of the lane's path: the buffer, the constant bank, or the code.
struct ChaseLane {
  int sm = 0;
  std::vector<std::uint64_t> offsets_bytes;  // multiples of 8, any order, repeats allowed
  /// Plain stores write these between the warm-up and the timed loads, without changing values.
  std::vector<std::uint64_t> stored_offsets_bytes = {};
  LoadPath path = LoadPath::all_levels;
};

/// An SM that adds 0 to the words of one line as fast as it can, without waiting for answers, while
/// the lanes of a chase run. Loads that pass the same slice of the L2 wait in its queue.
struct CoRunner {
  int sm = 0;
  std::uint64_t offset_bytes = 0;  // of the line, in the buffer
};

/// A dependent chain of loads, each timed on its own (Mei and Chu 2016, fine-grained P-chase).
/// Every lane makes `warmup_accesses` untimed loads from the start of its list, then goes on with
/// `timed_accesses` timed loads. The first `recorded_accesses` windows are kept one by one; if
/// there are more, the histogram counts all windows. With timed_accesses == 0 nothing is timed one
/// by one: `amortised_accesses` are run as a plain loop and only elapsed_cycles is kept (Saavedra
/// 1992, Wong 2010). Lanes may take different paths, to see which caches the paths share.
struct ChaseProbe {
  std::uint64_t buffer_bytes = 0;  // span of all offsets, whatever their space
  Place place = 0;
  std::vector<ChaseLane> lanes;
  std::vector<CoRunner> co_runners = {};  // on other SMs; lanes must read global memory
  std::uint64_t warmup_accesses = 0;
  WarmUp warm_up = WarmUp::dependent;
  std::uint64_t timed_accesses = 0;
  std::uint64_t recorded_accesses = 0;
  std::uint64_t amortised_accesses = 0;
  Preparation preparation = Preparation::as_is;
  Concurrency concurrency = Concurrency::together;
  /// The carve-out; unset: the smallest that holds the record, so the largest L1.
  std::optional<std::uint64_t> shared_carveout_bytes;
  /// If set, the buffer lies in the memory of this GPU, a peer with which the device was opened.
  std::optional<std::string> peer_uuid = {};
};

/// What lies between two clock reads.
enum class ClockWindow {
  empty,  // nothing: the overhead of reading the clock
  sink,   // only the dependent store that a chase's timed window holds besides its load
};

/// The timed window of a chase without its load, which is subtracted from windows of chases.
struct ClockProbe {
  ClockWindow window = ClockWindow::empty;
  std::vector<int> sms;
  std::uint64_t samples = 0;
};

/// Each SM reads its clock and the device-wide timer back to back, `samples` times without a pause.
struct TimestampProbe {
  std::vector<int> sms;
  std::uint64_t samples = 0;
};

/// Launches of thread block clusters, one block per SM; each lane is a block with SM and cluster.
/// All blocks of a cluster lie in one GPC (CUDA programming guide, thread block clusters).
struct ClusterProbe {
  int cluster_blocks = 2;
  int launches = 1;
};

enum class DsmKind { latency, stream };

/// Blocks of thread block clusters, one block per SM and as many clusters as the device takes at
/// once, read the shared memory of each other (distributed shared memory).
///
/// `latency`: one block of a cluster after the other makes a dependent chain of loads, each timed
/// on its own, through the memory of each block of its cluster, its own included. One lane for each
/// pair, cluster by cluster, reader by reader, target by target, with the SM of the reader.
///
/// `stream`: the block of rank r reads the memory of rank (r + distance) mod cluster_blocks, with
/// `block_threads` threads and `accesses` elements of dsm_element_bytes for each of them. One lane
/// for each block, cluster by cluster, rank by rank: elapsed_cycles of all that it read, accesses
/// of all of its threads.
struct DsmProbe {
  DsmKind kind = DsmKind::latency;
  int cluster_blocks = 2;
  std::uint64_t accesses = 0;
  int block_threads = 1024;                         // stream
  int distance = 1;                                 // stream; 0: each block reads its own memory
  Concurrency concurrency = Concurrency::together;  // stream: of all blocks of the device
};
inline constexpr int dsm_element_bytes = 16;

enum class HostKind { to_device, from_device, both, latency };

/// The link to the memory of the host, which is pinned.
///
/// Copies by the copy engines: `bytes` to the device, from it, or so many each way at once.
/// Trace.repeat_ns has `repeats` values, the time of each copy by the device's own timer (`both`:
/// until both have ended). The copied data are checked.
///
/// `latency`: one thread on `sm` makes `accesses` dependent loads from host memory, each timed, of
/// lines that were never read before: one in each host_step_bytes of `bytes`, in an order drawn
/// from `seed`. One lane, with the windows of a chase.
struct HostProbe {
  HostKind kind = HostKind::to_device;
  std::uint64_t bytes = 0;
  Place place = 0;             // of the buffers on the device and on the host
  int repeats = 1;             // copies
  std::uint64_t accesses = 0;  // latency
  int sm = 0;
  std::uint64_t seed = 0;
};
inline constexpr std::uint64_t host_step_bytes = 256;  // no cache has longer lines

using ProbeSpec =
    std::variant<ChaseProbe, ClockProbe, TimestampProbe, ClusterProbe, StreamProbe,
                 SharedChaseProbe, SharedStreamProbe, ProgramProbe, DsmProbe, HostProbe,
                 BranchProbe, WaitProbe, BarrierProbe, SleepProbe, OccupancyProbe,
                 ConstantStreamProbe, LaunchProbe, PaceProbe, ArithmeticProbe, SharedAtomicProbe>;

/// "chase", "clock", ...: the kind under which a probe is filed.
std::string_view probe_kind(const ProbeSpec& spec);

/// The parameters as JSON text, without lists of offsets, most lists of SMs and the operations of
/// programs. A chase adds the shape of its list and its path. If lanes differ, `lists` has these
/// for each group of equal lanes.
std::string describe_probe(const ProbeSpec& spec);

/// The path that all lanes of a chase take; nothing if they take different ones.
std::optional<LoadPath> common_path(const ChaseProbe& probe);

/// Checks what every backend relies on: sizes positive, offsets inside the buffer and multiples
/// of 8 (of code_entry_bytes for code), a constant buffer within its bank, stores only where a path
/// reads global memory, plain loads without a flush from a peer, SMs that exist. @throws Error
/// naming the field.
void validate_probe(const ProbeSpec& spec, int sm_count);

}  // namespace sonde
