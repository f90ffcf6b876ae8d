#include "base/units.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(UnitsTest, formats_bytes_in_binary_units) {
  EXPECT_EQ(format_bytes(0.0), "0 B");
  EXPECT_EQ(format_bytes(48_KiB), "48 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(format_bytes(130.0 * 1024 * 1024), "130 MiB");
}

TEST(UnitsTest, formats_quantities_by_unit) {
  EXPECT_EQ(format_quantity(4.52e12, "byte/s"), "4.52 TB/s");
  EXPECT_EQ(format_quantity(65536, "byte"), "64 KiB");
  EXPECT_EQ(format_quantity(36.5, "cycle"), "36.5 cycle");
  EXPECT_EQ(format_quantity(132, "1"), "132");
}

TEST(UnitsTest, parses_sizes_as_papers_write_them) {
  EXPECT_EQ(parse_bytes("24KB"), 24u << 10);
  EXPECT_EQ(parse_bytes("24 KiB"), 24u << 10);
  EXPECT_EQ(parse_bytes("1.5M"), 1572864u);
  EXPECT_EQ(parse_bytes("512"), 512u);
}

TEST(UnitsTest, refuses_what_is_no_positive_size) {
  for (const char* text : {"", "0", "-4K", "12 parsecs", "K", "1e400"}) {
    EXPECT_THROW(parse_bytes(text), ConfigError) << text;
  }
}

TEST(UnitsTest, display_units_scale_to_the_value) {
  EXPECT_EQ(display_unit(4.52e12, "byte/s").text, "TB/s");
  EXPECT_EQ(display_unit(4.52e12, "byte/s").divisor, 1e12);
  EXPECT_EQ(display_unit(196608, "byte").text, "KiB");
  EXPECT_EQ(display_unit(36, "cycle").text, "cycle");
  EXPECT_EQ(display_unit(5, "1").text, "");
}

}  // namespace
}  // namespace sonde
