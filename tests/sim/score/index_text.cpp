// Reads the text of an index function back and plays it co_resident the declared one.
#include "sim/score/index_text.hpp"

#include "analysis/structure/index/index_function.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "device/sim/memory/set_index.hpp"

#include <map>

namespace sonde::test {
bool parts_alike(const DeclaredIndex& declared, const std::string& text, std::uint64_t span_bytes) {
  constexpr int samples = 20000;
  const IndexFunction read = parse_index_function(text);
  require(can_number_sets(read), "no index function: " + text);
  const sim::SetIndex declared_set(declared.function, declared.sets);
  std::map<std::uint64_t, std::uint64_t> read_of_declared;
  std::map<std::uint64_t, std::uint64_t> declared_of_read;
  Random random(1);
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t line = random.below(span_bytes / declared.line_bytes);
    const std::uint64_t one = declared_set(line * declared.line_bytes);
    const std::uint64_t other = set_of(read, line * declared.line_bytes);
    if (read_of_declared.try_emplace(one, other).first->second != other) return false;
    if (declared_of_read.try_emplace(other, one).first->second != one) return false;
  }
  return true;
}

}  // namespace sonde::test
