// Names of load paths.
#include "device/probe/load_path.hpp"

#include "base/enum_text.hpp"

#include <iterator>

namespace sonde {
namespace {

constexpr EnumName<LoadPath> path_names[]{
    {LoadPath::all_levels, "ca"},          {LoadPath::past_l1, "cg"},
    {LoadPath::read_only, "nc"},           {LoadPath::uncached, "cv"},
    {LoadPath::constant, "constant"},      {LoadPath::texture_1d, "texture_1d"},
    {LoadPath::texture_2d, "texture_2d"},  {LoadPath::atomic, "atomic"},
    {LoadPath::instruction, "instruction"}};
static_assert(std::size(path_names) == load_path_count);

}  // namespace

std::string_view to_text(LoadPath path) { return name_of(path_names, path); }

}  // namespace sonde
