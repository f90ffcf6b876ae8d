// A stranger's check of what sonde says about a GPU: stranger report.json [seed]. It shares no code
// with sonde, reads a report (sonde export RUN.h5 > report.json), predicts from the structure in it
// which accesses are slow, and tries that on the GPU in front of it.
// L1, second TLB: a set of w ways keeps w lines in any order. Of w + 1 lines one is always absent,
// so every pass over them misses. Size of the L1: so many bytes stay, two lines more do not.
// Slices of the L2: atomics to lines of one slice take twice as long as to lines of two slices.
// Ends with 0 if at least 98 % of each row are right, 1 if not, 2 on an error, 77 without a GPU.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

using Addresses = std::vector<std::uint64_t>;

constexpr std::uint64_t MiB = 1 << 20;
// Records lie in shared memory, which takes its room from the L1. So many fit the smallest
// division, 8 KiB (each block takes one KiB more); the L1 has its largest size beside it.
constexpr int most_records = 3400;
constexpr int warmup_passes = 12, recorded_passes = 4;
constexpr int group_lines = 256;

std::mt19937_64 draws;
std::uint64_t draw(std::uint64_t below) { return draws() % below; }

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory of the host that the GPU reads and writes, too.
struct Exchange {
  unsigned claimed;
  std::uint16_t cycles[most_records];
  std::uint64_t places[1 << 17];
};

/// Makes a ring: each place holds the address of the next one.
__global__ void link(const Exchange* exchange, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    *reinterpret_cast<std::uint64_t*>(exchange->places[i]) = exchange->places[(i + 1) % count];
}

/// Follows a ring through the L1 or past it. The cycles of the last `count` accesses are kept. One
/// thread of the first block on the wanted SM does it.
template <bool through_l1>
__global__ void chase(std::uint64_t place, int warmup, int count, unsigned sm, Exchange* exchange) {
  __shared__ std::uint16_t records[most_records];
  unsigned here;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  if (here != sm || atomicExch(&exchange->claimed, 1) != 0) return;
  for (int i = -warmup; i < count; ++i) {
    const clock_t start = clock();
    if constexpr (through_l1)
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(place)::"memory");
    else
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(place)::"memory");
    if (place == 0) return;  // never so, but the second clock read has to wait for the load
    records[max(i, 0)] = static_cast<std::uint16_t>(min(clock() - start, clock_t{65535}));
  }
  for (int i = 0; i < count; ++i) exchange->cycles[i] = records[i];
}

struct Group {
  std::uint64_t lines[group_lines];
};

/// One thread of each warp sends atomics that add zero and that nobody waits for.
__global__ void send_atomics(Group group, int count) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < count; ++i)
    asm volatile("red.global.add.u32 [%0], 0;" ::"l"(group.lines[(warp + i) % group_lines]));
}

int sms = 0;
std::uint64_t memory_first = 0, memory_bytes = 0;  // all that could be had
Exchange* exchange = nullptr;

void open_gpu() {
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  check(cudaMallocHost(&exchange, sizeof(Exchange)));
  check(cudaFuncSetAttribute(chase<true>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  memory_bytes = free - free / 32;
  check(cudaMalloc(reinterpret_cast<void**>(&memory_first), memory_bytes));
}

/// The first byte of a block drawn from the memory. Blocks lie at multiples of their size.
std::uint64_t draw_block(std::uint64_t block_bytes) {
  const std::uint64_t first = (memory_first + block_bytes - 1) / block_bytes;
  return (first + draw((memory_first + memory_bytes) / block_bytes - first)) * block_bytes;
}

/// One line of each step, at a drawn place in it, in a drawn order.
Addresses draw_lines(std::uint64_t first, std::uint64_t count, std::uint64_t step_bytes) {
  Addresses lines;
  for (std::uint64_t i = 0; i < count; ++i)
    lines.push_back(first + i * step_bytes + draw((step_bytes + 127) / 128) * 128);
  std::shuffle(lines.begin(), lines.end(), draws);
  return lines;
}

/// What each access costs in passes over the lines, in their order, on a drawn SM. In the L1 that
/// is its latency. For a TLB each line is loaded twice in a row, past the L1: the first load waits
/// for translation and data, the second one for the data alone. The cost is the difference.
std::vector<int> measure_costs(bool is_l1, const Addresses& lines, int passes) {
  int length = 0;
  for (const std::uint64_t line : lines) {
    exchange->places[length++] = line;
    if (!is_l1) exchange->places[length++] = line + sizeof(line);
  }
  const int count = std::min(length * passes, most_records);
  link<<<1, 256>>>(exchange, length);
  exchange->claimed = 0;
  do {
    (is_l1 ? chase<true> : chase<false>)<<<2 * sms, 1>>>(
        exchange->places[0], warmup_passes * length, count, draw(sms), exchange);
    check(cudaDeviceSynchronize());
  } while (exchange->claimed == 0);
  std::vector<int> costs;
  for (int i = 0; i + 1 < count + is_l1; i += is_l1 ? 1 : 2)
    costs.push_back(exchange->cycles[i] - (is_l1 ? 0 : exchange->cycles[i + 1]));
  return costs;
}

/// Cycles between hits and misses: few lines surely stay, many surely do not.
int find_threshold(bool is_l1, const Addresses& few, const Addresses& many) {
  int sum = 0;
  for (const Addresses& lines : {few, many}) {
    std::vector<int> costs = measure_costs(is_l1, lines, recorded_passes);
    std::sort(costs.begin(), costs.end());
    sum += costs[costs.size() / 2];
  }
  return sum / 2;
}

nlohmann::json findings;

const nlohmann::json& value_of(const std::string& name) { return findings.at(name).at("value"); }

/// Bit i of the number is the parity of the address under mask i.
std::uint64_t hash(const Addresses& masks, std::uint64_t address) {
  std::uint64_t number = 0;
  for (std::size_t i = masks.size(); i-- > 0;)
    number = 2 * number + __builtin_parityll(address & masks[i]);
  return number;
}

/// Of "bits 9, 7^16^17", or "(address / 32 MiB) folded by XOR to 8 bits". Words are passed over.
Addresses parse_masks(const std::string& text) {
  Addresses masks;
  unsigned long size = 0, bits = 0;
  if (std::sscanf(text.c_str(), "(address / %lu MiB) folded by XOR to %lu", &size, &bits) == 2) {
    masks.resize(bits);
    for (std::uint64_t i = 0, bit = size * MiB; bit != 0; bit <<= 1) masks[i++ % bits] |= bit;
    return masks;
  }
  if (text.find_first_of("-(") < text.size()) throw std::runtime_error("unknown function: " + text);
  static const std::regex number(R"((\^?)(\d+))");
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
    if ((*at)[1].length() == 0) masks.push_back(0);
    masks.back() |= 1ull << std::stoi((*at)[2]);
  }
  return masks;
}

struct Row {
  std::string what;
  long asked = 0, right = 0;
  void add(bool as_predicted) { ++asked, right += as_predicted; }
};

/// An array of sets: as it is reported, and the rows of what is asked about it.
struct Array {
  std::string name;
  bool is_l1;
  Addresses masks = parse_masks(value_of(name + ".index_function"));
  std::uint64_t sets = value_of(name + ".sets");
  std::uint64_t ways = value_of(name + ".ways_per_set").at(0);
  int threshold = 0;
  Row accesses{name + ": accesses to sets with w lines hit"};
  Row lists{name + ": lists with w or w + 1 lines of 8 sets"};
};

/// Chases w or w + 1 of the lines of each of eight sets, all mixed. The list also has all lines of
/// four other sets, about which nothing is predicted: the second TLB of an H200 has room for eight
/// entries besides its sets, which overfull sets may use. These four keep it in use.
void ask_list(Array& array, const Addresses& lines) {
  constexpr std::uint64_t busy = 4, chosen = busy + 8;
  const std::uint64_t step = 2 * draw(array.sets) + 1, shift = draw(array.sets);
  const auto place_of = [&](std::uint64_t line) {  // in a drawn order of the sets
    return (step * hash(array.masks, line) + shift) % array.sets;
  };
  std::vector<Addresses> sets(std::max(array.sets, chosen));
  for (const std::uint64_t line : lines) sets[place_of(line)].push_back(line);
  Addresses order;
  for (std::uint64_t set = 0; set < chosen; ++set) {
    if (set >= busy) sets[set].resize(std::min(sets[set].size(), array.ways + draw(2)));
    order.insert(order.end(), sets[set].begin(), sets[set].end());
  }
  std::shuffle(order.begin(), order.end(), draws);
  const std::vector<int> costs = measure_costs(array.is_l1, order, recorded_passes);
  int misses[chosen][recorded_passes] = {};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const std::uint64_t set = place_of(order[i % order.size()]);
    const bool missed = costs[i] > array.threshold;
    misses[set][i / order.size()] += missed;
    if (set >= busy && sets[set].size() <= array.ways) array.accesses.add(!missed);
  }
  bool right = true;
  for (std::uint64_t set = busy; set < chosen; ++set) {
    const bool in_every_pass = std::count(misses[set], misses[set] + recorded_passes, 0) == 0;
    right = right && in_every_pass == (sets[set].size() > array.ways);
  }
  array.lists.add(right);
}

void check_l1(std::vector<Row>& rows) {
  Array l1{"cache.l1", true};
  const std::uint64_t line_bytes = value_of("cache.l1.line_bytes");
  const std::uint64_t size_bytes = value_of("cache.l1.size_bytes");
  const auto draw_bytes = [&](std::uint64_t bytes) {
    // The function was found within 4 MiB: it says nothing of higher bits.
    return draw_lines(draw_block(4 * MiB), bytes / line_bytes, line_bytes);
  };
  l1.threshold = find_threshold(true, draw_bytes(8 * line_bytes), draw_bytes(4 * MiB));
  for (int i = 0; i < 200; ++i) ask_list(l1, draw_bytes(4 * MiB));
  Row orders{"cache.l1: orders of its size stay, of 2 lines more do not"};
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t too_many = draw(2) * 2 * line_bytes;
    const Addresses order = draw_bytes(size_bytes + too_many);
    int with_misses = 0;  // a single miss may have another cause
    for (int pass = 0; pass < 3; ++pass) {
      const std::vector<int> costs = measure_costs(true, order, 1);
      with_misses += *std::max_element(costs.begin(), costs.end()) > l1.threshold;
    }
    orders.add((with_misses == 3) == (too_many > 0));
  }
  rows.insert(rows.end(), {l1.accesses, l1.lists, orders});
}

void check_second_tlb(std::vector<Row>& rows) {
  Array tlb{"tlb.l2", false};
  const std::uint64_t bytes = value_of("tlb.l2.entry_bytes");
  const std::uint64_t first = (memory_first + bytes - 1) / bytes * bytes;
  const std::uint64_t entries = (memory_first + memory_bytes - first) / bytes;
  // All chases have more entries than the first TLB, so that it never answers.
  const auto draw_entries = [&](std::uint64_t count) { return draw_lines(first, count, bytes); };
  tlb.threshold = find_threshold(false, draw_entries(entries / 32), draw_entries(entries));
  for (int i = 0; i < 100; ++i) ask_list(tlb, draw_entries(entries));
  rows.insert(rows.end(), {tlb.accesses, tlb.lists});
}

/// "x mod 47, x: 11^12, 13^14^15, in one of two orders by 16^17": the slice of a line is
/// order[(x ^ c) mod 47], x made of its place in a page. The number c belongs to the page and is
/// not reported. So 120 groups tell which c it is: lines of which x is a or b wait for each other
/// if they share a slice. Ten more are predicted. If the masks are wrong, no c predicts them.
void check_page(const std::string& function, Row& groups) {
  const Addresses masks = parse_masks(function.substr(function.find(':') + 1));
  const bool two_orders = function.find("orders") < function.size();  // the last mask chooses one
  const std::uint64_t constants = 1ull << (masks.size() - two_orders);
  unsigned long divisor = constants;
  std::sscanf(function.c_str(), "x mod %lu", &divisor);
  const auto share = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return ((a % constants) ^ c) % divisor == ((b % constants) ^ c) % divisor;
  };
  const std::uint64_t page = draw_block(2 * MiB);
  const auto draw_line = [&] { return page + draw(2 * MiB / 128) * 128; };
  const auto draw_x = [&] { return hash(masks, draw_line()); };
  const auto time_group = [&](std::uint64_t a, std::uint64_t b) {
    Group group;
    for (std::uint64_t& line : group.lines)
      for (std::uint64_t x = ~a; x != a && x != b; x = hash(masks, line)) line = draw_line();
    std::chrono::nanoseconds least = std::chrono::seconds(1);
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      send_atomics<<<4 * sms, 256>>>(group, 400);
      check(cudaDeviceSynchronize());
      least = std::min(least, std::chrono::steady_clock::now() - start);
    }
    return static_cast<double>(least.count());
  };
  const double one_slice = time_group(0, 0);
  std::vector<int> wrong(constants);
  std::uint64_t c = 0;
  for (int i = 0; i < 130; ++i) {
    const bool predicted = i >= 120, together = !predicted || draw(2) == 0;
    const std::uint64_t a = draw_x(), guess = predicted ? c : draw(constants);
    std::uint64_t b = draw_x();
    while (b / constants != a / constants || share(a, b, guess) != together) b = draw_x();
    const bool wait = time_group(a, b) > 0.75 * one_slice;
    if (predicted) groups.add(wait == together);
    for (std::uint64_t k = 0; k < constants; ++k) wrong[k] += wait != share(a, b, k);
    if (!predicted) c = std::min_element(wrong.begin(), wrong.end()) - wrong.begin();
  }
}

int main(int argc, char** argv) {
  if (cudaFree(nullptr) != cudaSuccess) return 77;
  std::vector<Row> rows;
  try {
    if (argc < 2) throw std::runtime_error("usage: stranger report.json [seed]");
    findings = nlohmann::json::parse(std::ifstream(argv[1])).at("devices").at(0).at("findings");
    draws.seed(argc > 2 ? std::stoull(argv[2]) : std::random_device{}());
    open_gpu();
    check_l1(rows);
    check_second_tlb(rows);
    rows.push_back({"L2: groups of lines of one slice or of two"});
    for (int page = 0; page < 4; ++page)
      check_page(value_of("cache.l2.slice_function"), rows.back());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stranger: %s\n", error.what());
    return 2;
  }
  bool well = true;
  std::printf("%-55s %8s %8s\n", "what", "asked", "right");
  for (const Row& row : rows) {
    std::printf("%-55s %8ld %8ld\n", row.what.c_str(), row.asked, row.right);
    well = well && row.asked > 0 && 100 * row.right >= 98 * row.asked;
  }
  return well ? 0 : 1;
}
