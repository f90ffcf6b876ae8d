// Verdicts, one overload for each kind of declared value.
#include "sim/score/finding_verdict.hpp"

#include "analysis/structure/replacement/policies.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/score/index_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>

namespace sonde::test {
namespace {

sonde::Policy in_words_of_analysis(sim::DeclaredPolicy policy) {
  switch (policy) {
    case sim::DeclaredPolicy::lru: return sonde::Policy::lru;
    case sim::DeclaredPolicy::fifo: return sonde::Policy::fifo;
    case sim::DeclaredPolicy::tree_plru: return sonde::Policy::tree_plru;
    case sim::DeclaredPolicy::nru: return sonde::Policy::nru;
    case sim::DeclaredPolicy::clock: return sonde::Policy::clock;
    case sim::DeclaredPolicy::srrip: return sonde::Policy::srrip;
    case sim::DeclaredPolicy::guarded_lru: return sonde::Policy::guarded_lru;
    case sim::DeclaredPolicy::brrip:
    case sim::DeclaredPolicy::set_duelling: return sonde::Policy::set_duelling;
    case sim::DeclaredPolicy::random: return sonde::Policy::random;
    case sim::DeclaredPolicy::weighted_ways: return sonde::Policy::weighted_ways;
  }
  throw Error("unknown policy");
}

/// Policies that no chase tells from this one in sets of so many ways.
std::vector<sonde::Policy> twins_of(sonde::Policy policy, std::uint32_t ways) {
  using enum sonde::Policy;
  constexpr std::array classes{std::array{lru, tree_plru, nru}, std::array{fifo, clock, clock}};
  std::vector<sonde::Policy> twins{policy};
  for (const auto& alike : classes) {
    if (ways == 2 && std::find(alike.begin(), alike.end(), policy) != alike.end()) {
      twins.assign(alike.begin(), alike.end());
    }
  }
  return twins;
}

bool is_right(Absent, const Finding&) { return false; }

/// An interval so narrow is an answer.
bool is_within_narrow(double declared, const Finding& finding) {
  constexpr double most_width = 1.02;
  if (!finding.interval) return false;
  const Interval seen = *finding.interval;
  return seen.high <= most_width * seen.low && seen.low <= declared && declared <= seen.high;
}

bool is_right(double declared, const Finding& finding) {
  const auto* number = std::get_if<double>(&finding.value);
  return number != nullptr && (*number == declared || is_within_narrow(declared, finding));
}

bool is_right(const std::vector<double>& declared, const Finding& finding) {
  const auto* numbers = std::get_if<std::vector<double>>(&finding.value);
  return numbers != nullptr && *numbers == declared;
}

/// The reason of an index function tells which address bits it was seen of.
bool is_right(const DeclaredIndex& declared, const Finding& finding) {
  const auto* text = std::get_if<std::string>(&finding.value);
  const bool has_text = declared.function.kind != sim::DeclaredIndex::Kind::slices;
  if (text == nullptr || !has_text) return false;
  std::smatch bits;
  if (!std::regex_search(finding.reason, bits, std::regex(R"(bits (\d+)-(\d+))"))) return false;
  return parts_alike(declared, *text, std::uint64_t{2} << std::stoi(bits[2]));
}

bool is_right(const DeclaredPolicy& declared, const Finding& finding) {
  const auto* text = std::get_if<std::string>(&finding.value);
  if (text == nullptr) return false;
  const std::uint32_t ways =
      *std::max_element(declared.ways_per_set.begin(), declared.ways_per_set.end());
  const auto twins = twins_of(in_words_of_analysis(declared.policy), ways);
  return std::any_of(twins.begin(), twins.end(),
                     [&](sonde::Policy twin) { return to_text(twin) == *text; });
}

bool is_right(const DeclaredChances& declared, const Finding& finding) {
  constexpr std::size_t few_ways = 8;
  const auto* shares = std::get_if<std::vector<double>>(&finding.value);
  if (shares == nullptr) return false;
  const double tolerance = shares->size() <= few_ways ? 0.03 : 0.05;
  return std::any_of(declared.by_width.begin(), declared.by_width.end(), [&](const auto& chances) {
    return std::equal(chances.begin(), chances.end(), shares->begin(), shares->end(),
                      [&](double one, double other) { return std::abs(one - other) <= tolerance; });
  });
}

bool is_right(DeclaredRange declared, const Finding& finding) {
  const auto* number = std::get_if<double>(&finding.value);
  return number != nullptr && *number >= declared.low && *number <= declared.high;
}

bool is_right(const OneOf& declared, const Finding& finding) {
  const auto* text = std::get_if<std::string>(&finding.value);
  return text != nullptr && std::ranges::find(declared.texts, *text) != declared.texts.end();
}

/// Whether "not resolvable" is all that can be said.
bool is_beyond_sight(const Declared& declared) {
  if (std::holds_alternative<Absent>(declared)) return true;
  if (const auto* index = std::get_if<DeclaredIndex>(&declared)) {
    // Remainders of XORs and sets in slices have no text.
    using Kind = sim::DeclaredIndex::Kind;
    const Kind kind = index->function.kind;
    return kind == Kind::table || kind == Kind::xor_modulo || kind == Kind::slices;
  }
  if (const auto* policy = std::get_if<DeclaredPolicy>(&declared)) {
    const std::uint32_t ways =
        *std::max_element(policy->ways_per_set.begin(), policy->ways_per_set.end());
    return ways == 1 || twins_of(in_words_of_analysis(policy->policy), ways).size() > 1;
  }
  return false;
}

/// An interval this wide says no more than that the number lies in it: honest, but no answer.
bool is_within_bracket(const Declared& declared, const Finding& finding) {
  constexpr double least_width = 1.1;
  const auto* number = std::get_if<double>(&declared);
  if (number == nullptr || !finding.interval) return false;
  const Interval bracket = *finding.interval;
  return bracket.high > least_width * bracket.low && bracket.low <= *number &&
         *number <= bracket.high;
}

std::string in_words(Absent) { return "absent"; }
std::string in_words(double number) { return fmt::format("{:g}", number); }
std::string in_words(const std::vector<double>& numbers) {
  std::string text = fmt::format("{:.4g}", fmt::join(numbers, " "));
  if (text.size() > 60) text = fmt::format("{}... ({})", text.substr(0, 60), numbers.size());
  return text;
}
std::string in_words(const DeclaredIndex& index) {
  using Kind = sim::DeclaredIndex::Kind;
  const sim::DeclaredIndex& function = index.function;
  switch (function.kind) {
    case Kind::bit_field: return fmt::format("{} bits from {} on", function.bits, function.low_bit);
    case Kind::xor_masks: return fmt::format("XORs {:x}", fmt::join(function.masks, " "));
    case Kind::xor_modulo:
      return fmt::format("XORs {:x} mod {}", fmt::join(function.masks, " "), index.sets);
    case Kind::modulo:
      return fmt::format("(address / {} B) mod {}", function.granularity_bytes, index.sets);
    case Kind::table: return fmt::format("a table to {} sets", index.sets);
    case Kind::slices: return fmt::format("{} sets in slices", index.sets);
  }
  return {};
}
std::string in_words(const DeclaredPolicy& policy) {
  return fmt::format("{} in {} sets of {} ways", to_text(in_words_of_analysis(policy.policy)),
                     policy.ways_per_set.size(), policy.ways_per_set.front());
}
std::string in_words(DeclaredRange range) {
  return fmt::format("{:g} to {:g}", range.low, range.high);
}
std::string in_words(const OneOf& one) { return fmt::format("{}", fmt::join(one.texts, " or ")); }
std::string in_words(const DeclaredChances& chances) { return in_words(chances.by_width.front()); }

}  // namespace

Verdict judge(const DeclaredValue& declared, const Finding* finding) {
  if (finding == nullptr) return Verdict::wrong;
  switch (finding->status) {
    case Status::ok:
    case Status::unstable:
      if (std::visit([&](const auto& value) { return is_right(value, *finding); },
                     declared.value)) {
        return Verdict::right;
      }
      return is_within_bracket(declared.value, *finding) ? Verdict::unresolvable : Verdict::wrong;
    case Status::not_present:
      return std::holds_alternative<Absent>(declared.value) ? Verdict::right : Verdict::wrong;
    case Status::not_resolvable:
      return declared.excluded || is_beyond_sight(declared.value) ? Verdict::right
                                                                  : Verdict::unresolvable;
    default: return Verdict::wrong;
  }
}

std::string describe(const Declared& declared) {
  return std::visit([](const auto& value) { return in_words(value); }, declared);
}

std::string describe(const Finding& finding) {
  std::string text(to_text(finding.status));
  if (const auto* number = std::get_if<double>(&finding.value)) text = in_words(*number);
  if (finding.interval)
    text += fmt::format(" in {:g} to {:g}", finding.interval->low, finding.interval->high);
  if (const auto* words = std::get_if<std::string>(&finding.value)) text = *words;
  if (const auto* list = std::get_if<std::vector<double>>(&finding.value)) text = in_words(*list);
  if (!finding.reason.empty()) text += " (" + finding.reason + ")";
  return text;
}

}  // namespace sonde::test
