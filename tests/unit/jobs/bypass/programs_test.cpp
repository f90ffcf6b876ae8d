// The sixteen programs: whether a device could play them, and whether their accesses are those of
// the loops that they stand for.
#include "jobs/bypass/programs.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/probe.hpp"
#include "device/probe/program_plan.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sonde {
namespace {

using ::testing::ElementsAre;

constexpr int fermi_sms = 15;
constexpr int fermi_warps = 48;
constexpr int fermi_blocks = 8;
constexpr std::uint64_t fermi_l2_bytes = 768u << 10;

const PaperProgram& program(std::string_view name) {
  static const std::vector<PaperProgram> programs = paper_programs();
  for (const PaperProgram& one : programs) {
    if (one.program.name == name) return one;
  }
  throw std::out_of_range(std::string(name));
}

/// 128-byte lines of each access of the first pass of a warp.
std::vector<std::size_t> first_pass_lines(std::string_view name, std::size_t kernel,
                                          ProgramWarp warp = {}) {
  const AccessProgram& accesses = program(name).program;
  ProgramCursor cursor(accesses, accesses.kernels[kernel], warp);
  std::vector<std::size_t> lines;
  do {
    std::uint64_t elements[32];
    cursor.elements(elements);
    std::set<std::uint64_t> touched;
    for (std::uint64_t element : elements) touched.insert(element / 32);
    lines.push_back(touched.size());
    cursor.advance();
  } while (!cursor.at_end() && !cursor.begins_pass());
  return lines;
}

std::uint64_t bytes_of(std::string_view name) {
  return array_offsets_bytes(program(name).program).back();
}

TEST(PaperProgramsTest, every_one_can_be_played_and_fits_on_an_sm_of_table_1) {
  std::set<std::string> names;
  for (const PaperProgram& one : paper_programs()) {
    SCOPED_TRACE(one.program.name);
    EXPECT_TRUE(names.insert(one.program.name).second);
    ProgramProbe probe;
    probe.program = one.program;
    probe.resident_blocks = one.resident_blocks;
    probe.level = one.level;
    probe.cached = bypass_units(probe);
    probe.sm_accesses = 1000;
    EXPECT_NO_THROW(validate_probe(probe, fermi_sms));
    EXPECT_LE(resident_warps(probe), fermi_warps);
    EXPECT_LE(one.resident_blocks, fermi_blocks);
    EXPECT_GT(bypass_units(probe), 1);
    EXPECT_EQ(one.level == BypassLevel::warp, one.resident_blocks == 1);
  }
  EXPECT_EQ(names.size(), 16u);
}

TEST(PaperProgramsTest, ten_have_high_contention_and_five_of_these_teach) {
  std::string high;
  std::string taught;
  for (const PaperProgram& one : paper_programs()) {
    if (one.high_contention) high += one.program.name + " ";
    if (one.taught) taught += one.program.name + " ";
  }
  EXPECT_EQ(high, "ptf sc bh hst s2k kms gmv atx mvt bic ");
  EXPECT_EQ(taught, "s2k gmv atx mvt bic ");
}

TEST(PaperProgramsTest, a_row_for_each_thread_is_a_line_for_each) {
  EXPECT_THAT(first_pass_lines("atx", 0), ElementsAre(32, 1, 1));  // A[i][j], x[j], tmp[i]
  EXPECT_THAT(first_pass_lines("atx", 1), ElementsAre(1, 1, 1));   // A[i][j] by j
  EXPECT_THAT(first_pass_lines("bic", 0), ElementsAre(1, 1, 1));
  EXPECT_THAT(first_pass_lines("bic", 1), ElementsAre(32, 1, 1));
  EXPECT_THAT(first_pass_lines("mvt", 0), ElementsAre(32, 1, 1));
  EXPECT_THAT(first_pass_lines("gmv", 0), ElementsAre(32, 1, 32, 1, 1));
  EXPECT_THAT(first_pass_lines("s2k", 0), ElementsAre(1, 32, 1, 32, 1));
  // A point's 34 features take 136 bytes, so that a line has parts of two points now and then.
  EXPECT_THAT(first_pass_lines("kms", 0), ElementsAre(32, 1));
}

TEST(PaperProgramsTest, other_programs_take_the_lines_of_their_loops) {
  EXPECT_THAT(first_pass_lines("cvr", 0), ElementsAre(1, 1, 32));    // symmat[j1][j2] by j1
  EXPECT_THAT(first_pass_lines("lud", 0), ElementsAre(2, 2, 2, 2));  // 16 columns of two rows
  EXPECT_THAT(first_pass_lines("sr2", 0), ElementsAre(2, 1, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(first_pass_lines("scp", 0), ElementsAre(1, 1));
  // The plane begins one element in: a row of a warp's points covers two lines but for column -1.
  EXPECT_THAT(first_pass_lines("2dv", 0), ElementsAre(1, 1, 1, 2, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(first_pass_lines("ptf", 0), ElementsAre(1, 1));  // CDF[x], u[i]
  EXPECT_THAT(first_pass_lines("ptf", 1), ElementsAre(1, 1, 32));
  EXPECT_THAT(first_pass_lines("bh", 0), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1));
  const auto histogram = first_pass_lines("hst", 0);
  ASSERT_EQ(histogram.size(), 3u);
  EXPECT_EQ(histogram[1], 16u) << "64 bytes of counters for each thread";
}

TEST(PaperProgramsTest, a_counter_is_written_where_it_was_read) {
  const AccessProgram& histogram = program("hst").program;
  ProgramCursor cursor(histogram, histogram.kernels[0], {.block_x = 3, .block_y = 0, .warp = 1});
  cursor.advance();
  std::uint64_t read[32];
  cursor.elements(read);
  cursor.advance();
  std::uint64_t written[32];
  cursor.elements(written);
  ASSERT_TRUE(cursor.access().store);
  EXPECT_THAT(read, ::testing::ElementsAreArray(written));
}

TEST(PaperProgramsTest, a_search_ends_where_the_threads_numbers_lie) {
  const AccessProgram& filter = program("ptf").program;
  const ProgramKernel& search = filter.kernels[0];
  EXPECT_EQ(passes_of(search.inner, {.block_x = 0, .block_y = 0, .warp = 0}), 32u);
  EXPECT_EQ(passes_of(search.inner, {.block_x = 2, .block_y = 0, .warp = 3}), 2u * 512 + 4 * 32);
}

TEST(PaperProgramsTest, data_exceed_the_l2_where_those_of_the_originals_do) {
  for (std::string_view name : {"sc", "bh", "hst", "s2k", "kms", "gmv", "atx", "mvt", "bic", "scp",
                                "cvr", "lud", "sr2", "2df", "2dv"}) {
    EXPECT_GT(bytes_of(name), 2 * fermi_l2_bytes) << name;
  }
  EXPECT_EQ(bytes_of("atx"), (4096u * 4096 + 3 * 4096) * 4u);
  EXPECT_EQ(bytes_of("kms"), 2 * 65536u * 34 * 4);
}

}  // namespace
}  // namespace sonde
