// Matrices of the job `peer`, from the rows of all devices of a node.
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/content.hpp"
#include "analysis/report/report.hpp"
#include "analysis/statistics.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace sonde {
namespace {

// Each is a page of text; the file has all of them.
constexpr std::size_t most_nodes = 4;

constexpr const char* matrix_metrics[] = {"peer.latency_cycles", "peer.read_bytes_per_s",
                                          "peer.write_bytes_per_s", "peer.both_ways_bytes_per_s",
                                          "peer.all_at_once_bytes_per_s"};

struct Node {
  std::string name;  // in a sweep with the setting
  std::vector<double> ranks;
  std::vector<const DeviceResult*> devices;  // by rank
  bool has_slow_link = false;
};

/// Groups of devices that measured the same GPUs with the same setting.
std::vector<Node> find_nodes(const RunResult& run) {
  std::map<std::pair<std::string, std::vector<double>>, Node> nodes;
  for (const DeviceResult& device : run.devices) {
    const auto* ranks = vector_of(device, "peer.ranks");
    if (ranks == nullptr) continue;
    const std::string setting = describe_setting(run.provenance, device.point_index);
    const std::string name = device.node + (setting.empty() ? "" : ", " + setting);
    Node& node = nodes[{name, *ranks}];
    node.name = name;
    node.ranks = *ranks;
    node.devices.push_back(&device);
    node.has_slow_link = node.has_slow_link || number_of(device, "peer.slowest").has_value();
  }
  std::vector<Node> found;
  for (auto& [key, node] : nodes) {
    std::ranges::sort(node.devices, {}, &DeviceResult::rank);
    found.push_back(std::move(node));
  }
  std::ranges::stable_sort(found, std::greater<>(), &Node::has_slow_link);
  if (found.size() > most_nodes) found.resize(most_nodes);
  return found;
}

/// The link type if all GPUs of the node have the same; else "".
std::string link_of(const Node& node) {
  std::string link;
  for (const DeviceResult* device : node.devices) {
    const Finding* finding = find_finding(*device, "peer.link");
    const auto* text = finding != nullptr ? std::get_if<std::string>(&finding->value) : nullptr;
    if (text == nullptr || (!link.empty() && *text != link)) return "";
    link = *text;
  }
  return link;
}

/// Uses the devices that have a value for each GPU of the node.
void add_matrix(const Node& node, const char* metric, std::span<const Metric> registry,
                std::vector<PeerMatrix>& matrices) {
  std::vector<std::pair<int, const std::vector<double>*>> rows;
  std::vector<double> known;
  for (const DeviceResult* device : node.devices) {
    const auto* values = vector_of(*device, metric);
    if (values == nullptr || values->size() != node.ranks.size()) continue;
    rows.emplace_back(device->rank, values);
    std::ranges::copy(known_values(*values), std::back_inserter(known));
  }
  if (known.empty()) return;
  const DisplayUnit display = display_unit(median(known), unit_of(registry, metric));
  PeerMatrix matrix;
  const std::string link = link_of(node);
  matrix.title = fmt::format("{}: {}, {}{}", node.name, metric, display.text,
                             link.empty() ? "" : " (" + link + ")");
  matrix.table.columns.push_back({"from rank", Align::right});
  for (const double rank : node.ranks) {
    matrix.table.columns.push_back({fmt::format("rank {}", rank), Align::right});
  }
  for (const auto& [rank, values] : rows) {
    std::vector<std::string>& cells = matrix.table.rows.emplace_back(1, std::to_string(rank));
    for (const double value : *values) cells.push_back(number_text(value, display));
  }
  matrices.push_back(std::move(matrix));
}

}  // namespace

std::vector<PeerMatrix> peer_matrices(const RunResult& run, std::span<const Metric> registry) {
  std::vector<PeerMatrix> matrices;
  for (const Node& node : find_nodes(run)) {
    for (const char* metric : matrix_metrics) add_matrix(node, metric, registry, matrices);
  }
  return matrices;
}

}  // namespace sonde
