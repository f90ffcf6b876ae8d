# Writes ${output}: a C++ file with the text of every file in ${models} (names separated by commas).
string(REPLACE "," ";" models "${models}")
set(rows "")
foreach(model ${models})
  get_filename_component(name ${model} NAME_WE)
  file(READ ${model} json)
  string(APPEND rows "    {\"${name}\", R\"model(${json})model\"},\n")
endforeach()
file(WRITE ${output}
"#include \"device/sim/model/model_files.hpp\"

namespace sonde::sim {
namespace {
constexpr ShippedFile files[] = {
${rows}};
}  // namespace
std::span<const ShippedFile> shipped_files() { return files; }
}  // namespace sonde::sim
")
