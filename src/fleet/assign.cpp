// Matches ranks and GPUs of each machine, and lets one rank do a piece of work.
#include "fleet/assign.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace sonde {
namespace {

using Holders = std::map<std::string, std::size_t>;  // UUID to the rank that measures the GPU

/// Finds a GPU for a rank; if all are taken, moves other ranks to other GPUs (Kuhn's augmenting
/// paths). Free GPUs are taken in order, so ranks with equal views get them in rank order.
bool find_device(const std::vector<RankView>& views, std::size_t rank, Holders& holders,
                 std::set<std::string>& tried) {
  for (const std::string& uuid : views[rank].uuids) {
    if (!holders.contains(uuid)) {
      holders[uuid] = rank;
      return true;
    }
  }
  for (const std::string& uuid : views[rank].uuids) {
    if (!tried.insert(uuid).second) continue;
    if (find_device(views, holders.at(uuid), holders, tried)) {
      holders[uuid] = rank;
      return true;
    }
  }
  return false;
}

std::string describe(const RankView& view) {
  return fmt::format("rank {} on {}", view.rank, view.node);
}

std::set<std::string> as_set(const RankView& view) {
  return {view.uuids.begin(), view.uuids.end()};
}

/// Throws unless the user may have wanted this rank without a GPU to stand down.
void check_stand_down(const RankView& view, const std::vector<RankView>& views,
                      const Holders& holders) {
  for (const std::string& uuid : view.uuids) {
    const RankView& holder = views[holders.at(uuid)];
    if (view.uuids.size() == 1 && view.restricted && holder.restricted &&
        holder.uuids.size() == 1) {
      throw AgreedError(fmt::format(
          "{} and {} are both bound to the one GPU {} (two ranks would disturb each other's "
          "measurements) start one rank per GPU, or leave CUDA_VISIBLE_DEVICES and --gpu-bind to "
          "sonde",
          describe(holder), describe(view), uuid));
    }
    if (as_set(holder) != as_set(view)) {
      throw AgreedError(fmt::format(
          "{} has no GPU of its own: {} measures {} and sees other GPUs (CUDA_VISIBLE_DEVICES is "
          "set differently for the ranks of one node) let all ranks of a node see the same GPUs, "
          "or one each",
          describe(view), describe(holder), uuid));
    }
  }
}

void match_machine(const std::vector<RankView>& views, int machine, Holders& holders) {
  Holders on_machine;
  std::vector<std::size_t> without;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    if (views[rank].machine != machine) continue;
    std::set<std::string> tried;
    if (!find_device(views, rank, on_machine, tried)) without.push_back(rank);
  }
  for (const std::size_t rank : without) check_stand_down(views[rank], views, on_machine);
  for (const auto& [uuid, rank] : on_machine) {
    const auto [other, is_new] = holders.insert({uuid, rank});
    if (is_new) continue;
    throw AgreedError(fmt::format(
        "{} and {} would both measure the GPU {} (they share no memory, so they look like two "
        "machines: containers?) start one rank per GPU",
        describe(views[other->second]), describe(views[rank]), uuid));
  }
}

}  // namespace

Assignment assign_devices(const std::vector<RankView>& views) {
  std::set<int> machines;
  for (const RankView& view : views) machines.insert(view.machine);
  Holders holders;
  for (const int machine : machines) match_machine(views, machine, holders);

  Assignment assignment;
  assignment.uuid_of_rank.resize(views.size());
  for (const auto& [uuid, rank] : holders) assignment.uuid_of_rank[rank] = uuid;
  std::set<std::string> listed;
  for (const RankView& view : views) {
    for (const std::string& uuid : view.uuids) {
      if (!holders.contains(uuid) && listed.insert(uuid).second) {
        assignment.unaudited.push_back({.node = view.node, .uuid = uuid});
      }
    }
  }
  return assignment;
}

std::string describe_shared_names(const std::vector<RankView>& views) {
  std::map<std::string, std::set<int>> machines;  // by name
  for (const RankView& view : views) machines[view.node].insert(view.machine);
  std::string names;
  for (const auto& [name, of_name] : machines) {
    if (of_name.size() == 1) continue;
    names +=
        fmt::format("{}{} machines are called {}", names.empty() ? "" : ", ", of_name.size(), name);
  }
  if (names.empty()) return {};
  return names +
         " (they share no memory: containers on one node, or a SLURMD_NODENAME that the launcher "
         "passed on to other nodes) see which machine a GPU is in before you drain a node";
}

namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto assign_pause = std::chrono::milliseconds(100);
// A new try is needed only if the rank of the try before was lost.
constexpr int most_tries = 8;

fs::path claim_file(const fs::path& parts, int attempt) {
  return parts / fmt::format("builder.{}", attempt);
}
fs::path result_file(const fs::path& parts) { return parts / "built"; }

std::optional<int> read_number(const fs::path& path) {
  std::ifstream file(path);
  int number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The result of the rank that does this try; nothing if that rank is lost.
std::optional<ExitStatus> await_result(const fs::path& parts, int attempt, const Patience& patience,
                                       const Lookout& lookout) {
  std::uint64_t last_sign = 0;
  auto seen = Clock::now();
  while (Clock::now() - seen < std::chrono::duration<double>(patience.silence_s)) {
    if (const auto status = read_number(result_file(parts))) {
      return static_cast<ExitStatus>(*status);
    }
    const auto owner = read_number(claim_file(parts, attempt));
    const std::uint64_t sign = owner && lookout.sign_of_life ? lookout.sign_of_life(*owner) : 0;
    if (sign != last_sign) seen = Clock::now();
    last_sign = sign;
    if (lookout.on_poll) lookout.on_poll();
    std::this_thread::sleep_for(assign_pause);
  }
  return std::nullopt;
}

}  // namespace

ExitStatus do_once(const fs::path& parts, int rank, const std::function<ExitStatus()>& work,
                   const Patience& patience, const Lookout& lookout) {
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    if (write_new_file(claim_file(parts, attempt), fmt::format("{}\n", rank))) {
      const ExitStatus status = work();
      write_new_file(result_file(parts), fmt::format("{}\n", static_cast<int>(status)));
      return status;
    }
    if (const auto status = await_result(parts, attempt, patience, lookout)) return *status;
  }
  return ExitStatus::error;
}

void clear_claims(const fs::path& parts) {
  std::error_code ignored;
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    fs::remove(claim_file(parts, attempt), ignored);
  }
  fs::remove(result_file(parts), ignored);
}

}  // namespace sonde
