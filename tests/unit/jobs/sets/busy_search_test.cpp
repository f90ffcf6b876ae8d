// The search for sets on a toy of the second TLB of an H200, as far as trials showed it: 256 sets
// of eight ways, and room that an overfull set may take if no other does.
#include "base/random.hpp"
#include "base/units.hpp"
#include "unit/jobs/sets/toy_sets.hpp"

#include <map>

namespace sonde {
namespace {

constexpr std::uint64_t entry_bytes = 32_MiB;
constexpr std::uint64_t entries = 4096;
constexpr std::uint32_t ways = 8;
constexpr std::uint32_t room = 8;
constexpr std::uint32_t passes = 4;

/// Of one overfull set all lines stay, up to the room; of two, they come to rest now and then; of
/// more, all miss.
class RoomProbe final : public ToySets {
 public:
  /// @param first_entry where the buffer begins
  RoomProbe(JobRun& run, std::uint64_t first_entry)
      : ToySets(run,
                {.name = "tlb.l2",
                 .pool = {.line_bytes = entry_bytes,
                          .span_bytes = entries * entry_bytes,
                          .cached_lines = 2048,
                          .seed = 5,
                          .buffer_address = first_entry * entry_bytes},
                 .may_have_room = true},
                ways),
        first_entry_(first_entry) {}

  std::uint64_t set_of_entry(std::uint64_t offset) const {
    const std::uint64_t number = first_entry_ + offset / entry_bytes;
    return (number ^ number >> 8 ^ number >> 16 ^ number >> 24) & 255;
  }
  std::optional<PassEvictors> find_pass_evictors(std::uint64_t end_bytes) override {
    PassEvictors evictors;
    for (std::uint64_t i = 16; i > 0; --i) {
      evictors.accessed.push_back(end_bytes - i * entry_bytes);
    }
    evictors.co_resident = evictors.accessed;
    return evictors;
  }
  std::vector<MissCounts> ask(std::span<const Lines> lists, const PassEvictors& evictors) override {
    std::vector<MissCounts> answers;
    for (const Lines& list : lists) answers.push_back(chase(list, evictors.accessed));
    return answers;
  }

 private:
  MissCounts chase(const Lines& list, const Lines& evictors) {
    std::map<std::uint64_t, std::uint32_t> members;
    for (const std::uint64_t line : list) ++members[set_of_entry(line)];
    for (const std::uint64_t line : evictors) ++members[set_of_entry(line)];
    std::uint32_t overfull = 0;
    std::uint32_t beyond = 0;
    for (const auto& [set, lines] : members) {
      overfull += lines > ways;
      beyond += lines > ways ? lines - ways : 0;
    }
    const bool rests =
        beyond <= room && (overfull == 1 || (overfull == 2 && random_.below(2) == 0));
    MissCounts counts{{}, passes, 0};
    for (const std::uint64_t line : list) {
      const bool misses = members[set_of_entry(line)] > ways && !rests;
      counts.misses.push_back(misses ? passes : 0);
      if (misses) counts.passes_with_misses = passes;
    }
    return counts;
  }

  std::uint64_t first_entry_ = 0;
  Random random_{17};
};

using BusySearchTest = ToySetsTest;

/// Few lines beyond a multiple of the span do not move ways from set to set either.
TEST_F(BusySearchTest, room_that_any_set_may_take_hides_no_sets) {
  for (const std::uint64_t first_entry :
       {0x3FB4A37, 0x3FC5000 + 18, 0x3FC5000 + 7, 0x3FC5000 - 9}) {
    RoomProbe probe(run, first_entry);

    const SetFindings found = find_sets(probe);

    EXPECT_TRUE(found.confirmed()) << found.layout.reason;
    EXPECT_EQ(found.layout.ways_per_set, std::vector<std::uint32_t>(256, ways)) << first_entry;
    ASSERT_TRUE(found.replacement);
    EXPECT_EQ(found.replacement->policy, Policy::lru);
  }
}

}  // namespace
}  // namespace sonde
