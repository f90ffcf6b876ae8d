// Reads the text of an index function back and plays it co_resident the declared one.
#include "sim/score/index_text.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "device/sim/memory/set_index.hpp"

#include <map>
#include <regex>
#include <sstream>

namespace sonde::test {
namespace {

/// "7", "7-9" (a mask each) or "7^13" (one mask).
void read_masks(const std::string& part, std::vector<std::uint64_t>& masks) {
  std::smatch run;
  if (std::regex_match(part, run, std::regex(R"((\d+)-(\d+))"))) {
    for (int bit = std::stoi(run[1]); bit <= std::stoi(run[2]); ++bit) {
      masks.push_back(std::uint64_t{1} << bit);
    }
    return;
  }
  require(std::regex_match(part, std::regex(R"(\d+(\^\d+)*)")),
          "no part of an index function: " + part);
  std::stringstream bits(part);
  std::uint64_t mask = 0;
  for (std::string bit; std::getline(bits, bit, '^');) mask ^= std::uint64_t{1} << std::stoi(bit);
  masks.push_back(mask);
}

struct ReadFunction {
  sim::DeclaredIndex function;
  std::uint32_t sets = 1;
};

ReadFunction read_function(const std::string& text) {
  using Kind = sim::DeclaredIndex::Kind;
  ReadFunction read;
  if (text == "one set") return read;
  std::smatch parts;
  if (std::regex_match(text, parts, std::regex(R"(\(address / (.+)\) mod (\d+))"))) {
    read.function.kind = Kind::modulo;
    read.function.granularity_bytes = parse_bytes(parts[1].str());
    read.sets = static_cast<std::uint32_t>(std::stoul(parts[2]));
    return read;
  }
  require(std::regex_match(text, parts, std::regex("bits? (.+)")), "no index function: " + text);
  read.function.kind = Kind::xor_masks;
  std::stringstream list(parts[1].str());
  for (std::string part; std::getline(list >> std::ws, part, ',');) {
    read_masks(part, read.function.masks);
  }
  read.sets = 1u << read.function.masks.size();
  return read;
}

}  // namespace

bool parts_alike(const DeclaredIndex& declared, const std::string& text, std::uint64_t span_bytes) {
  constexpr int samples = 20000;
  const ReadFunction read = read_function(text);
  const sim::SetIndex declared_set(declared.function, declared.sets);
  const sim::SetIndex read_set(read.function, read.sets);
  std::map<std::uint32_t, std::uint32_t> read_of_declared;
  std::map<std::uint32_t, std::uint32_t> declared_of_read;
  Random random(1);
  for (int i = 0; i < samples; ++i) {
    const std::uint64_t line = random.below(span_bytes / declared.line_bytes);
    const std::uint32_t one = declared_set(line * declared.line_bytes);
    const std::uint32_t other = read_set(line * declared.line_bytes);
    if (read_of_declared.try_emplace(one, other).first->second != other) return false;
    if (declared_of_read.try_emplace(other, one).first->second != one) return false;
  }
  return true;
}

}  // namespace sonde::test
