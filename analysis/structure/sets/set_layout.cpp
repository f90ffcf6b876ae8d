// From conflicts to the layout of all sets.
#include "analysis/structure/sets/set_layout.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

// Twice the address bits that can vary in a span: the rank of their differences is then certain.
constexpr std::size_t wanted_members = 64;
constexpr std::uint64_t fewest_candidates = 1024;
constexpr std::uint64_t most_candidates = 1 << 17;
// Sets without a function are looked for one by one.
constexpr std::size_t most_single_sets = 64;
// If there must be far more, some show how wide they are.
constexpr std::size_t sample_of_sets = 12;
constexpr std::uint32_t few_of_many =
    50;  // sets of one width that are so few of all are looked at twice
constexpr std::uint32_t widest_step = 8;  // sets differ by at most so many ways
// A function that is nearly right holds in few sets of other chases.
constexpr double least_checked_agreement = 0.9;

bool contains(const Lines& ascending, std::uint64_t line) {
  return std::binary_search(ascending.begin(), ascending.end(), line);
}

bool is_taken(const LinePool& space, std::uint64_t line) {
  return contains(space.co_resident, line) || contains(space.excluded, line);
}

/// Lines of the span in a drawn order, at most `count`.
Lines draw_lines(const LinePool& space, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t available = space.span_bytes / space.line_bytes;
  Random random(seed);
  Lines lines;
  if (available <= 2 * count + space.co_resident.size() + space.excluded.size()) {
    for (std::uint64_t line = 0; line < available; ++line) lines.push_back(line * space.line_bytes);
    std::erase_if(lines, [&](std::uint64_t line) { return is_taken(space, line); });
    shuffle(lines, random);
    lines.resize(std::min<std::size_t>(count, lines.size()));
    return lines;
  }
  std::set<std::uint64_t> drawn;
  while (drawn.size() < count) {
    const std::uint64_t line = random.below(available) * space.line_bytes;
    if (!is_taken(space, line) && drawn.insert(line).second) lines.push_back(line);
  }
  return lines;
}

struct Split {
  Lines members;
  Lines others;
};

Split split(const Lines& lines, const std::vector<bool>& is_member) {
  Split parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    (is_member[i] ? parts.members : parts.others).push_back(lines[i]);
  }
  return parts;
}

/// In up to three orders of the pool: a slow hit in one of very many chases may have ended the
/// search.
std::optional<EvictionSet> find_conflict_in_any_order(Lines pool, const MissOracle& ask,
                                                      std::string& reason) {
  constexpr std::uint64_t orders = 3;
  auto conflict = find_eviction_set(pool, ask, reason);
  for (std::uint64_t order = 1; order < orders && !conflict && pool.size() > 1; ++order) {
    if (!overflows(ask(std::span(&pool, 1)).front())) break;
    Random random(order);
    shuffle(pool, random);
    conflict = find_eviction_set(pool, ask, reason);
  }
  return conflict;
}

/// Sorts as many of the pool's lines by the conflict's set as it takes to see enough of that set.
Split look_for_members(const EvictionSet& conflict, const Lines& pool, const MissOracle& ask) {
  constexpr std::size_t at_once = 4096;
  Split parts;
  const std::size_t wanted = std::max(wanted_members, conflict.ways() + 8);
  for (std::size_t first = 0; first < pool.size() && parts.members.size() < wanted;
       first += at_once) {
    const std::size_t behind = std::min(first + at_once, pool.size());
    const Lines chunk(pool.begin() + static_cast<std::ptrdiff_t>(first),
                      pool.begin() + static_cast<std::ptrdiff_t>(behind));
    const Split more = split(chunk, find_members(conflict, chunk, ask));
    parts.members.insert(parts.members.end(), more.members.begin(), more.members.end());
    parts.others.insert(parts.others.end(), more.others.begin(), more.others.end());
  }
  return parts;
}

Lines with_conflict_first(const EvictionSet& conflict, const Lines& members) {
  Lines lines = conflict.lines;
  for (std::uint64_t line : members) {
    if (std::find(conflict.lines.begin(), conflict.lines.end(), line) == conflict.lines.end()) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// How many lines of a set were missed by a chase: an overfull set misses at least once in a pass.
bool set_overflows(std::uint32_t misses, std::uint32_t passes) {
  return misses >= std::max(2u, (3 * passes + 3) / 4);
}

/// Which sets overflow with `count` lines each.
std::vector<bool> ask_sets(const IndexFunction& index, const std::vector<Lines>& lines_by_set,
                           const std::vector<std::uint32_t>& counts, std::size_t room,
                           const MissOracle& ask) {
  std::vector<Lines> lists(1);
  std::vector<std::vector<std::uint64_t>> sets_of_list(1);
  for (std::uint64_t set = 0; set < index.sets; ++set) {
    if (counts[set] == 0) continue;
    if (!lists.back().empty() && lists.back().size() + counts[set] > room) {
      lists.emplace_back();
      sets_of_list.emplace_back();
    }
    const Lines& lines = lines_by_set[set];
    lists.back().insert(lists.back().end(), lines.begin(), lines.begin() + counts[set]);
    sets_of_list.back().push_back(set);
  }
  std::vector<bool> overfull(index.sets);
  const std::vector<MissCounts> answers = ask(lists);
  for (std::size_t list = 0; list < lists.size(); ++list) {
    std::size_t at = 0;
    for (std::uint64_t set : sets_of_list[list]) {
      std::uint32_t misses = 0;
      for (std::uint32_t i = 0; i < counts[set]; ++i) misses += answers[list].misses[at++];
      overfull[set] = set_overflows(misses, answers[list].passes);
    }
  }
  return overfull;
}

/// Lines of every set, `count` or as many as the span has.
std::vector<Lines> sort_lines(const IndexFunction& index, const LinePool& space,
                              std::size_t count) {
  std::vector<Lines> lines_by_set(index.sets);
  const std::uint64_t available = space.span_bytes / space.line_bytes;
  // An odd step accesses every line once and leaves no order that a set could depend on.
  const std::uint64_t step = (available * 5 / 8) | 1;
  const std::uint64_t enough = 4 * count * index.sets;
  for (std::uint64_t i = 0; i < available && i < enough; ++i) {
    const std::uint64_t line =
        (std::has_single_bit(available) ? i * step % available : i) * space.line_bytes;
    Lines& lines = lines_by_set[set_of(index, line)];
    if (lines.size() < count && !is_taken(space, line)) lines.push_back(line);
  }
  return lines_by_set;
}

/// The width of the sets that `counts` asks for: from that many lines up or down, all at a time.
/// Empty if some set has too few lines, or lies too far from the others.
std::vector<std::uint32_t> settle_ways(const IndexFunction& index, const std::vector<Lines>& lines,
                                       std::vector<std::uint32_t> counts, std::size_t room,
                                       const MissOracle& ask) {
  std::vector<std::uint32_t> ways(index.sets);
  std::vector<bool> upwards(index.sets);
  for (std::uint32_t step = 0; step <= 2 * widest_step; ++step) {
    bool open = false;
    for (std::uint64_t set = 0; set < index.sets; ++set) {
      if (counts[set] > lines[set].size()) return {};
      open = open || counts[set] > 0;
    }
    if (!open) return ways;
    const std::vector<bool> overfull = ask_sets(index, lines, counts, room, ask);
    for (std::uint64_t set = 0; set < index.sets; ++set) {
      std::uint32_t& count = counts[set];
      if (count == 0) continue;
      if (step == 0) upwards[set] = !overfull[set];
      if (overfull[set] == upwards[set]) {
        ways[set] = upwards[set] ? count - 1 : count;
        count = 0;
      } else if (!upwards[set] && count == 1) {
        return {};
      } else {
        count = upwards[set] ? count + 1 : count - 1;
      }
    }
  }
  return {};
}

/// The width of every set, from that of one of them. The few that differ from the others are asked
/// again, each alone: a slow hit that repeats makes a set look narrower than it is.
std::vector<std::uint32_t> measure_ways(const IndexFunction& index, const LinePool& space,
                                        const EvictionSet& conflict, const MissOracle& ask) {
  const auto first = static_cast<std::uint32_t>(conflict.ways());
  const std::vector<Lines> lines = sort_lines(index, space, first + widest_step + 1);
  const std::size_t room = std::max<std::size_t>(conflict.fitting_lines, first + 1);
  const std::vector<std::uint32_t> counts(index.sets, first + 1);
  std::vector<std::uint32_t> ways = settle_ways(index, lines, counts, room, ask);
  if (ways.empty()) return ways;
  std::map<std::uint32_t, std::uint32_t> sets_by_width;
  for (std::uint32_t width : ways) ++sets_by_width[width];
  std::vector<std::uint32_t> suspect(index.sets);
  for (std::uint64_t set = 0; set < index.sets; ++set) {
    if (few_of_many * sets_by_width[ways[set]] <= index.sets) suspect[set] = first + 1;
  }
  const std::vector<std::uint32_t> again = settle_ways(index, lines, suspect, first + 1, ask);
  if (again.empty()) return again;
  for (std::uint64_t set = 0; set < index.sets; ++set) {
    if (suspect[set] > 0) ways[set] = again[set];
  }
  return ways;
}

/// Walks over drawn lines whose sets are known: every set that they overfill must overflow, and no
/// other.
void check(const LinePool& space, const std::vector<std::uint32_t>& ways_by_set,
           const std::function<std::optional<std::uint64_t>(std::uint64_t)>& set_of_line,
           const MissOracle& ask, SetLayout& found) {
  constexpr std::uint64_t chases = 6;
  const auto length = static_cast<std::uint64_t>(
      std::max(1.25 * static_cast<double>(found.conflict->fitting_lines), 8.0));
  std::vector<Lines> lists;
  for (std::uint64_t chase = 0; chase < chases; ++chase) {
    Lines drawn =
        draw_lines(space, 4 * length, derive_seed(space.seed, "check " + std::to_string(chase)));
    std::erase_if(drawn, [&](std::uint64_t line) { return !set_of_line(line); });
    drawn.resize(std::min<std::size_t>(length, drawn.size()));
    lists.push_back(std::move(drawn));
  }
  const std::vector<MissCounts> answers = ask(lists);
  std::uint64_t right = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    struct Seen {
      std::uint32_t lines = 0;
      std::uint32_t misses = 0;
    };
    std::map<std::uint64_t, Seen> sets;
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      Seen& seen = sets[*set_of_line(lists[list][i])];
      ++seen.lines;
      seen.misses += answers[list].misses[i];
    }
    for (const auto& [set, seen] : sets) {
      ++found.checked_sets;
      right += set_overflows(seen.misses, answers[list].passes) == (seen.lines > ways_by_set[set]);
    }
  }
  if (found.checked_sets > 0) {
    found.agreement = static_cast<double>(right) / static_cast<double>(found.checked_sets);
  }
}

/// The lines co_resident the lists had one way each.
void count_co_residents(const LinePool& space, std::vector<std::uint32_t>& ways_by_set,
                        SetLayout& found) {
  for (std::uint64_t line : space.co_resident) ++ways_by_set[set_of(found.index, line)];
  found.home_ways = ways_by_set[set_of(found.index, found.members.front())];
}

void finish(std::vector<std::uint32_t> ways_by_set, SetLayout& found) {
  std::sort(ways_by_set.begin(), ways_by_set.end(), std::greater<>());
  found.ways_per_set = std::move(ways_by_set);
}

/// How many of `co_resident` lie in the set of these lines, seen with other lines co_resident: each
/// takes the place of one of as many lines as fit then. nullopt if too few of the lines are known.
std::optional<std::uint32_t> count_co_residents_in_set(const Lines& co_resident, Lines lines,
                                                       const OtherCoResidents& other) {
  if (co_resident.empty()) return 0;
  std::erase_if(lines, [&](std::uint64_t line) {
    return contains(other.co_resident, line) || contains(other.excluded, line);
  });
  std::vector<Lines> prefixes;
  for (std::size_t length = 1; length <= lines.size(); ++length) {
    prefixes.emplace_back(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(length));
  }
  const std::vector<MissCounts> grown = other.ask(prefixes);
  const auto first = std::find_if(grown.begin(), grown.end(),
                                  [](const MissCounts& counts) { return overflows(counts); });
  if (first == grown.end()) return std::nullopt;
  lines.resize(static_cast<std::size_t>(first - grown.begin()));
  std::vector<Lines> lists;
  for (std::uint64_t line : co_resident) {
    lists.push_back(lines);
    lists.back().push_back(line);
  }
  std::uint32_t count = 0;
  for (const MissCounts& counts : other.ask(lists)) count += overflows(counts);
  return count;
}

/// Sets found one by one, by their number.
struct SingleSets {
  std::vector<Lines> lines;         // of each, the conflict's first
  std::vector<std::uint32_t> ways;  // left by lines co_resident the lists
};

/// Set after set, until what is left fits or enough are seen. Tells why it ended early.
SingleSets take_single_sets(const LinePool& space, Lines pool, const SetLayout& found,
                            const Split& first, const MissOracle& ask, std::string& reason) {
  SingleSets sets;
  const auto take = [&](const EvictionSet& conflict, const Lines& members) {
    sets.lines.push_back(with_conflict_first(conflict, members));
    sets.ways.push_back(static_cast<std::uint32_t>(conflict.ways()));
    for (std::uint64_t line : sets.lines.back()) std::erase(pool, line);
  };
  take(*found.conflict, first.members);
  const std::size_t most_sets_seen = space.cached_lines / sets.ways.front() > 2 * most_single_sets
                                         ? sample_of_sets
                                         : most_single_sets;
  std::string no_conflict;
  while (auto conflict = find_conflict_in_any_order(pool, ask, no_conflict)) {
    if (sets.ways.size() == most_sets_seen) {
      reason = fmt::format(
          "no function of the address puts lines into sets as seen, and "
          "there are more than {} sets to be looked for one by one",
          most_single_sets);
      return sets;
    }
    take(*conflict, split(pool, find_members(*conflict, pool, ask)).members);
  }
  if (!pool.empty() && overflows(ask(std::span(&pool, 1)).front())) {
    reason = fmt::format("behind {} sets, {}", sets.ways.size(), no_conflict);
  }
  return sets;
}

void find_single_sets(const LinePool& space, const Lines& pool, const MissOracle& ask,
                      const std::optional<OtherCoResidents>& other, SetLayout& found) {
  const Split first = split(pool, find_members(*found.conflict, pool, ask));
  std::string ended;
  const SingleSets sets = take_single_sets(space, pool, found, first, ask, ended);
  std::vector<std::uint32_t> whole_ways = sets.ways;
  for (std::size_t set = 0; other && set < sets.ways.size(); ++set) {
    const auto more = count_co_residents_in_set(space.co_resident, sets.lines[set], *other);
    if (!more) {
      found.reason = "too few lines of a set are known to see what lies beside them";
      return;
    }
    whole_ways[set] += *more;
  }
  found.home_ways = whole_ways.front();
  if (!ended.empty()) {
    found.reason = ended;
    found.seen_lines = pool.size();
    for (std::size_t set = 0; set < sets.ways.size(); ++set) {
      found.seen_sets.push_back({whole_ways[set], sets.lines[set].size()});
    }
    return;
  }
  if (sets.ways.size() == 1) {
    if (found.reason.empty()) found.reason = found.index.reason;
    return;
  }
  std::vector<PlacedLine> placed;
  std::map<std::uint64_t, std::uint32_t> set_of_line;
  for (std::uint32_t set = 0; set < sets.lines.size(); ++set) {
    for (std::uint64_t line : sets.lines[set]) {
      placed.push_back({line, set});
      set_of_line[line] = set;
    }
  }
  const auto known_set = [&](std::uint64_t line) -> std::optional<std::uint64_t> {
    const auto known = set_of_line.find(line);
    return known == set_of_line.end() ? std::nullopt : std::optional(known->second);
  };
  check(space, sets.ways, known_set, ask, found);
  found.index = fit_index_function(placed, space.line_bytes);
  if (found.index.kind != IndexKind::unresolved && found.index.agreement < enough_agreement) {
    found.index.kind = IndexKind::unresolved;
    found.index.reason = "the best function puts some lines into other sets than was seen";
  }
  found.index.sets = static_cast<std::uint32_t>(sets.ways.size());
  finish(std::move(whole_ways), found);
}

}  // namespace

std::uint64_t SetLayout::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count) {
  Lines lines;
  for (std::uint64_t line = 0; line < space.span_bytes && lines.size() < 4 * count;
       line += space.line_bytes) {
    if (set_of(index, line) == set && !is_taken(space, line)) lines.push_back(line);
  }
  Random random(derive_seed(space.seed, "lines of a set"));
  shuffle(lines, random);
  lines.resize(std::min(count, lines.size()));
  return lines;
}

SetLayout find_set_layout(const LinePool& space, const MissOracle& ask,
                          const std::optional<OtherCoResidents>& other) {
  SetLayout found;
  const std::uint64_t pool_lines =
      std::clamp(4 * space.cached_lines, fewest_candidates, most_candidates);
  Lines pool = draw_lines(space, pool_lines, derive_seed(space.seed, "pool"));
  found.conflict = find_conflict_in_any_order(pool, ask, found.reason);
  if (!found.conflict) return found;
  const std::uint64_t sets =
      std::max<std::uint64_t>(1, space.cached_lines / found.conflict->ways());
  const std::uint64_t more = std::clamp(2 * wanted_members * sets, pool_lines, most_candidates);
  const Lines candidates = draw_lines(space, more, derive_seed(space.seed, "candidates"));
  const Split parts = look_for_members(*found.conflict, candidates, ask);
  found.members = with_conflict_first(*found.conflict, parts.members);
  found.index = fit_class(found.members, parts.others, space);
  if (can_number_sets(found.index)) {
    std::vector<std::uint32_t> ways = measure_ways(found.index, space, *found.conflict, ask);
    const std::uint64_t home = set_of(found.index, found.members.front());
    const bool as_seen = !ways.empty() && ways[home] == found.conflict->ways();
    if (as_seen) {
      check(
          space, ways, [&](std::uint64_t line) { return set_of(found.index, line); }, ask, found);
      if (found.checked_sets == 0 || found.agreement >= least_checked_agreement) {
        count_co_residents(space, ways, found);
        finish(std::move(ways), found);
        return found;
      }
    }
    found.reason = ways.empty() ? "not every set showed its width"
                   : as_seen    ? "other walks contradict the function that fits one set"
                                : "by the function that fits one set, that set is wider than seen";
  }
  found.home_ways = static_cast<std::uint32_t>(found.conflict->ways());
  if ((!space.co_resident.empty() && !other) || sets > 4 * most_single_sets) {
    found.index.kind = IndexKind::unresolved;
    if (found.reason.empty()) found.reason = found.index.reason;
    return found;
  }
  find_single_sets(space, pool, ask, other, found);
  return found;
}

}  // namespace sonde
