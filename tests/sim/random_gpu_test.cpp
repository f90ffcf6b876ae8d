// GPUs drawn at random: the jobs on caches and TLBs find what their files declare, or say that
// they cannot. SONDE_RANDOM_GPUS is how many, or which ("17-17"); docs/methods/confidence.md.
#include "support/random_gpu.hpp"
#include "base/error.hpp"
#include "sim/finding_verdict.hpp"
#include "sim/job_on_sim.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>

namespace sonde::test {
namespace {

// Of all values.
constexpr double least_honest_share = 0.97;  // right or "not resolvable"
constexpr double most_unresolvable_share = 0.05;
// Of the values with at least so much confidence.
constexpr double high_confidence = 0.95;
constexpr double least_right_share = 0.95;

// What a test run has time for; the bars were measured with 200 (docs/methods/confidence.md).
constexpr std::uint64_t default_random_gpus = 16;

// A handful of GPUs has too few values for those bars: one odd GPU would break them. So few must
// stay above these floors.
constexpr std::uint64_t values_for_the_bars = 1000;
constexpr double honest_floor = 0.93;
constexpr double right_floor = 0.93;

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = default_random_gpus;
};

Seeds wanted_seeds() {
  const char* wanted = std::getenv("SONDE_RANDOM_GPUS");
  if (wanted == nullptr) return {};
  std::cmatch parts;
  require(std::regex_match(wanted, parts, std::regex(R"((?:(\d+)-)?(\d+))")),
          "SONDE_RANDOM_GPUS must be a number of GPUs or a range of seeds such as 17-20");
  return {parts[1].matched ? std::stoull(parts[1]) : 1, std::stoull(parts[2])};
}

struct Count {
  std::uint64_t right = 0;
  std::uint64_t unresolvable = 0;
  std::uint64_t wrong = 0;
  std::uint64_t confident = 0;
  std::uint64_t confident_and_right = 0;

  std::uint64_t all() const { return right + unresolvable + wrong; }
  Count& operator+=(const Count& other) {
    right += other.right;
    unresolvable += other.unresolvable;
    wrong += other.wrong;
    confident += other.confident;
    confident_and_right += other.confident_and_right;
    return *this;
  }
  void add(Verdict verdict, const Finding* finding) {
    right += verdict == Verdict::right;
    unresolvable += verdict == Verdict::unresolvable;
    wrong += verdict == Verdict::wrong;
    const bool has_value = finding != nullptr && finding->status == Status::ok;
    if (!has_value || finding->confidence < high_confidence) return;
    ++confident;
    confident_and_right += verdict == Verdict::right;
  }
};

/// Counts by metric, and a line for each value that is not right.
class Table {
 public:
  void add(std::uint64_t seed, const DeclaredValue& declared, const Finding* finding) {
    if (finding == nullptr && declared.optional) return;
    const Verdict verdict = judge(declared, finding);
    by_metric_[declared.metric].add(verdict, finding);
    total_.add(verdict, finding);
    if (verdict == Verdict::right) return;
    lines_ +=
        fmt::format("{} {} of seed {}: declared {}, found {}\n",
                    verdict == Verdict::wrong ? "WRONG" : "unresolvable", declared.metric, seed,
                    describe(declared.value), finding == nullptr ? "nothing" : describe(*finding));
    if (finding != nullptr && verdict == Verdict::wrong) {
      lines_ += fmt::format("  confidence {:.3f}\n", finding->confidence);
    }
  }
  void note(std::uint64_t seed, std::string_view job, const char* why) {
    lines_ += fmt::format("FAILED {} of seed {}: {}\n", job, seed, why);
  }
  void add(const Table& other) {
    for (const auto& [metric, count] : other.by_metric_) by_metric_[metric] += count;
    total_ += other.total_;
    lines_ += other.lines_;
  }
  const Count& total() const { return total_; }

  void print() const {
    std::cout << fmt::format("{:<36}{:>8}{:>14}{:>8}\n", "metric", "right", "unresolvable",
                             "wrong");
    for (const auto& [metric, count] : by_metric_) print_row(metric, count);
    print_row("all", total_);
    std::cout << fmt::format("of confidence {} and more: {} of {} right\n", high_confidence,
                             total_.confident_and_right, total_.confident)
              << lines_ << std::flush;
  }

 private:
  static void print_row(const std::string& name, const Count& count) {
    std::cout << fmt::format("{:<36}{:>8}{:>14}{:>8}\n", name, count.right, count.unresolvable,
                             count.wrong);
  }

  std::map<std::string, Count> by_metric_;
  Count total_;
  std::string lines_;
};

constexpr std::array<std::string_view, 5> jobs_under_test{"clock", "cache.l1", "cache.readonly",
                                                          "cache.l2", "tlb"};

std::string write_model(std::uint64_t seed) {
  const std::string path = testing::TempDir() + fmt::format("random_gpu_{}.json", seed);
  std::ofstream(path) << draw_gpu(seed);
  return path;
}

/// Shared parts that hold a record, the one that jobs on caches take first.
std::vector<std::uint64_t> recordable_carveouts(JobOnSim& sim) {
  constexpr std::uint64_t least_record = 1024;
  std::vector<std::uint64_t> carveouts;
  for (std::uint64_t carveout : sim.device().info().shared_carveouts_bytes) {
    if (sim.device().recordable_accesses(carveout) >= least_record) carveouts.push_back(carveout);
  }
  return carveouts;
}

void run_on_gpu(std::uint64_t seed, Table& table) {
  JobOnSim sim(write_model(seed), seed);
  for (std::string_view job : jobs_under_test) {
    try {
      sim.run(job);
    } catch (const Error& error) {
      table.note(seed, job, error.what());
    }
  }
  const std::vector<std::uint64_t> carveouts = recordable_carveouts(sim);
  const std::uint64_t chosen =
      carveouts.empty() ? sim.device().info().shared_bytes_per_sm : carveouts.front();
  for (const DeclaredValue& declared : declared_values(sim.truth(), chosen, carveouts)) {
    table.add(seed, declared, sim.find_if_any(declared.metric));
  }
}

/// A shard has every so-many-th seed. The table is of all shards that this process ran.
class RandomGpuTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  static void TearDownTestSuite() { all_shards.print(); }
  static inline Table all_shards;
};
constexpr std::uint64_t shards = 8;

TEST_P(RandomGpuTest, is_found_as_declared_or_honestly_not) {
  const Seeds seeds = wanted_seeds();
  Table table;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    if (seed % shards == GetParam()) run_on_gpu(seed, table);
  }
  if (table.total().all() == 0) GTEST_SKIP() << "no seed of this shard was asked for";
  all_shards.add(table);

  const Count& total = table.total();
  const auto all = static_cast<double>(total.all());
  const auto honest = static_cast<double>(total.right + total.unresolvable);
  const auto confident = static_cast<double>(total.confident);
  const auto confident_and_right = static_cast<double>(total.confident_and_right);
  if (total.all() < values_for_the_bars) {
    EXPECT_GE(honest, honest_floor * all);
    EXPECT_GE(confident_and_right, right_floor * confident);
    return;
  }
  EXPECT_GE(honest, least_honest_share * all);
  EXPECT_LE(static_cast<double>(total.unresolvable), most_unresolvable_share * all);
  EXPECT_GE(confident_and_right, least_right_share * confident);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGpuTest, testing::Range<std::uint64_t>(0, shards));

}  // namespace
}  // namespace sonde::test
