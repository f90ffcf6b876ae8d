// The drawing in words: each unit below its frame, and how sure what is not sure is.
#include "analysis/report/drawing_text.hpp"

#include <gtest/gtest.h>

namespace sonde {
namespace {

DeviceDrawing small_drawing() {
  DrawnUnit cache{.name = "L2", .size = "60 MiB"};
  cache.facts = {{.label = "hit", .text = "279 cycles", .confidence = 1},
                 {.label = "sets x ways", .text = "320 x 16", .confidence = 0.5},
                 {.label = "policy", .text = "not resolvable: noise", .answered = false}};
  return {.frames = {{.name = "A GPU, compute capability 9.0", .units = {cache}},
                     {.name = "GPC x 8", .units = {}},
                     {.name = "SM x 132", .units = {{.name = "Shared memory", .size = "228 KiB"}}}},
          .unresolved = {"Constant L3"}};
}

TEST(DrawingTextTest, units_stand_below_their_frames_with_a_line_for_each_fact) {
  EXPECT_EQ(drawing_text(small_drawing(), 0),
            "  unit             size     what         value\n"
            "  A GPU\n"
            "    L2             60 MiB   hit          279 cycles\n"
            "                            sets x ways  320 x 16 (sure to 0.50)\n"
            "                            policy       not resolvable: noise\n"
            "  SM x 132\n"
            "    Shared memory  228 KiB\n"
            "  not known whether there: Constant L3\n");
}

TEST(DrawingTextTest, a_device_with_nothing_to_draw_has_no_text) {
  EXPECT_EQ(drawing_text({}, 80), "");
  EXPECT_EQ(drawing_text({.frames = {{.name = "A GPU", .units = {}}}, .unresolved = {}}, 80), "");
}

}  // namespace
}  // namespace sonde
