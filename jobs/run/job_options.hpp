// Options of single jobs (`--set latency.carveout_bytes=64KiB`). Each job declares its options with
// unit and range, and reads their values by JobRun::number_setting and text_setting.
#pragma once

#include "analysis/results.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

struct JobOption {
  std::string_view name;  // ends with the unit, like the name of a metric
  std::string_view unit;  // "" for a text
  double least = 0;       // range of a number, which must be whole
  double most = 0;
  std::span<const std::string_view> choices = {};  // of a text
  std::string_view usual;                          // what the job does without the option
  std::string_view help;
};

/// Options that several jobs share.
namespace options {
inline constexpr JobOption carveout_bytes{
    .name = "carveout_bytes",
    .unit = "byte",
    .most = 1 << 30,
    .usual = "the least that holds the record of a chase",
    .help = "shared part of the L1, one of those that the GPU has"};
inline constexpr JobOption block_threads{.name = "block_threads",
                                         .unit = "1",
                                         .least = 32,
                                         .most = 1024,
                                         .usual = "up to 1024",
                                         .help = "threads of each block"};
inline constexpr JobOption blocks_per_sm{.name = "blocks_per_sm",
                                         .unit = "1",
                                         .least = 1,
                                         .most = 1024,
                                         .usual = "1 and more",
                                         .help = "blocks for each SM"};
inline constexpr std::string_view ilps[]{"1", "2", "4", "8"};
inline constexpr JobOption ilp{.name = "ilp",
                               .unit = "",
                               .choices = ilps,
                               .usual = "1 to 8",
                               .help = "loads, stores or operations of a thread under way at once"};
inline constexpr JobOption warps{.name = "warps",
                                 .unit = "1",
                                 .least = 1,
                                 .most = 32,
                                 .usual = "1 to 32",
                                 .help = "warps of each SM"};
/// Options of the job `chase`.
inline constexpr std::string_view chase_orders[]{"random", "ascending"};
inline constexpr std::string_view chase_paths[]{
    "ca", "cg", "nc", "cv", "constant", "texture_1d", "texture_2d", "instruction"};
inline constexpr JobOption of_one_chase[]{
    carveout_bytes,
    {.name = "footprint_bytes",
     .unit = "byte",
     .least = 128,
     .most = 1ULL << 40,
     .usual = "16384",
     .help = "span of memory that is chased over and over"},
    {.name = "stride_bytes",
     .unit = "byte",
     .least = 8,
     .most = 1ULL << 30,
     .usual = "128",
     .help = "distance of the addresses"},
    {.name = "order",
     .unit = "",
     .choices = chase_orders,
     .usual = "random",
     .help = "order of the accesses"},
    {.name = "others_bytes",
     .unit = "byte",
     .least = 128,
     .most = 1ULL << 40,
     .usual = "none",
     .help = "what each other SM of the run chases meanwhile, behind the footprint"},
    {.name = "path",
     .unit = "",
     .choices = chase_paths,
     .usual = "ca",
     .help = "load path: all levels, past the L1, read-only, uncached; or others"}};

}  // namespace options

/// Values of the options that are set for a job; numbers as plain digits.
using JobSettings = std::map<std::string, std::string, std::less<>>;

}  // namespace sonde
