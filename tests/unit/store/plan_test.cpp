#include "store/plan.hpp"

#include "store/hdf5/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;

const std::string job = "clock";
const TableKey windows = keys::traces(job, "window");
const std::uint64_t chunk = chunk_rows(2);

PartShape part(std::uint64_t rows, std::size_t element_bytes, std::uint64_t rows_of_chunk) {
  PartShape shape{.jobs = {job}, .tables = {}, .shard = "some.h5"};
  add_table(shape, windows,
            {.rows = rows,
             .columns = {{.element_bytes = element_bytes, .constant = {}}},
             .chunk_rows = rows_of_chunk});
  return shape;
}

TablePlan plan_of(const std::vector<PartShape>& parts) {
  const FilePlan plan = make_plan(parts, 0);
  return *std::ranges::find(plan.tables, windows, &TablePlan::key);
}

TEST(PlanTest, parts_of_whole_chunks_begin_at_a_chunk_and_are_copied) {
  const TablePlan plan = plan_of(
      {part(chunk + 5, 2, chunk), part(0, 2, 0), part(2 * chunk, 2, chunk), part(chunk, 2, chunk)});

  EXPECT_THAT(plan.first_row, ElementsAre(0, chunk + 5, 2 * chunk, 4 * chunk));
  EXPECT_THAT(plan.part_rows, ElementsAre(chunk + 5, 0, 2 * chunk, chunk));
  EXPECT_EQ(plan.rows, 5 * chunk);
  EXPECT_EQ(plan.most_rows(), 2 * chunk);
  EXPECT_THAT(plan.storage, ElementsAre(Storage::copied));
}

TEST(PlanTest, a_part_of_another_width_or_packed_otherwise_is_not_copied) {
  for (const PartShape& other : {part(chunk, 4, chunk / 2), part(chunk, 2, chunk / 4),
                                 part(chunk, 2, 0), part(chunk, 4, chunk)}) {
    EXPECT_THAT(plan_of({part(chunk + 5, 2, chunk), other}).storage, ElementsAre(Storage::shared));
  }
}

TEST(PlanTest, a_part_in_memory_has_the_same_place_as_in_a_shard) {
  PartShape in_memory = part(chunk + 5, 2, 0);
  in_memory.shard.clear();

  const TablePlan plan = plan_of({in_memory, in_memory});

  EXPECT_THAT(plan.first_row, ElementsAre(0, 2 * chunk));
  EXPECT_THAT(plan.storage, ElementsAre(Storage::shared));
}

TEST(PlanTest, parts_follow_each_other_if_one_has_less_than_a_chunk) {
  const TablePlan plan = plan_of({part(chunk + 5, 2, chunk), part(7, 2, 7), part(chunk, 2, chunk)});

  EXPECT_THAT(plan.first_row, ElementsAre(0, chunk + 5, chunk + 12));
  EXPECT_THAT(plan.storage, ElementsAre(Storage::shared));
}

TEST(PlanTest, little_is_gathered) {
  const std::vector<PartShape> parts{part(chunk + 5, 2, chunk), part(7, 2, 7)};
  const auto storage_of_windows = [&](std::uint64_t gathered_bytes) {
    const FilePlan plan = make_plan(parts, gathered_bytes);
    return std::ranges::find(plan.tables, windows, &TablePlan::key)->storage;
  };

  EXPECT_THAT(storage_of_windows(2 * (chunk + 12)), ElementsAre(Storage::gathered));
  EXPECT_THAT(storage_of_windows(2 * (chunk + 12) - 1), ElementsAre(Storage::shared));
  EXPECT_THAT(plan_of({part(7, 2, 7), part(9, 2, 9)}).storage, ElementsAre(Storage::gathered));
}

}  // namespace
}  // namespace sonde
