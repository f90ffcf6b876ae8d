// Job `peer`: latency and bandwidth from this GPU to every other GPU of its node, also with all
// GPUs active at once. In turn, each GPU measures its row. Method: docs/methods/peer.md.
#include "analysis/peer_links.hpp"
#include "analysis/replication.hpp"
#include "analysis/statistics.hpp"
#include "jobs/peer/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace sonde {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
// For all GPUs at once: fewer pieces may agree by chance.
constexpr std::size_t least_pieces = 3;

void report_row(JobRun& run, const PeerRow& row, const char* metric, const PeerSamples& samples) {
  std::vector<double> values(row.gpus.size(), none);
  std::vector<double> within, between;
  Finding finding = found(metric, 0.0, 1, 0);
  for (std::size_t gpu = 0; gpu < values.size(); ++gpu) {
    if (samples[gpu].empty()) continue;
    const ReplicateSummary summary = summarize_replicates(samples[gpu]);
    values[gpu] = summary.center;
    within.push_back(summary.repeatability);
    between.push_back(summary.reproducibility);
    finding.samples += summary.samples;
    finding.replicates = summary.replicates;
    // If replicates differ by a tenth, something disturbed them.
    finding.confidence = std::min(finding.confidence,
                                  std::max(0.0, 1 - 7 * summary.reproducibility / summary.center));
  }
  finding.value = std::move(values);
  finding.repeatability = median(std::move(within));
  finding.reproducibility = median(std::move(between));
  run.report(std::move(finding), row.remark());
}

const char* text_of(PeerLink link) {
  switch (link) {
    case PeerLink::nvlink: return "nvlink";
    case PeerLink::pcie: return "pcie";
    case PeerLink::unknown: break;
  }
  return "not known";
}

/// Reports one word if all links are of one kind, else the kind of each link.
void report_link(JobRun& run, const PeerRow& row) {
  std::vector<std::string> kinds_seen, texts;
  for (std::size_t gpu = 0; gpu < row.gpus.size(); ++gpu) {
    if (!row.has(gpu)) continue;
    const std::string kind = text_of(run.device().link_to(row.gpus[gpu].uuid));
    if (std::ranges::find(kinds_seen, kind) == kinds_seen.end()) kinds_seen.push_back(kind);
    texts.push_back(fmt::format("rank {}: {}", row.gpus[gpu].rank, kind));
  }
  if (kinds_seen.size() > 1) {
    return run.report("peer.link", fmt::format("{}", fmt::join(texts, ", ")), 1);
  }
  if (kinds_seen.front() == text_of(PeerLink::unknown)) {
    return run.leave_open("peer.link", "the driver does not report it (NVML is missing)");
  }
  run.report(found("peer.link", kinds_seen.front(), 1, 1), row.remark());
}

/// A slow link to another GPU, and the metric that shows it.
struct SlowPeer {
  SlowLink link;
  std::string metric;
};

/// Adds the slow links in a reported row of the matrix.
void add_slow_peers(const JobRun& run, const char* metric, std::vector<SlowPeer>& slow) {
  const Finding* finding = run.finding(metric);
  if (finding == nullptr) return;
  std::vector<double> rates = std::get<std::vector<double>>(finding->value);
  std::vector<double> known = rates;
  std::erase_if(known, [](double value) { return std::isnan(value); });
  if (!std::string_view(metric).ends_with("_per_s")) {
    for (double& value : rates) value = 1 / value;
  }
  for (const SlowLink& link : find_slow_links(rates, finding->reproducibility / median(known))) {
    slow.push_back({link, metric});
  }
}

void report_slowest(JobRun& run, const PeerRow& row) {
  constexpr double confidence = 0.99;  // no healthy link deviates so far (docs/methods/peer.md)
  if (row.links() < least_links) {
    return run.leave_open("peer.slowest",
                          fmt::format("{} link(s) (at least {} are needed to know what is usual)",
                                      row.links(), least_links));
  }
  std::vector<SlowPeer> slow;
  for (const LinkKind& kind : link_kinds) add_slow_peers(run, kind.metric, slow);
  add_slow_peers(run, "peer.latency_cycles", slow);
  if (slow.empty()) {
    return run.report(
        not_present("peer.slowest", "no link stands out from the others of this GPU"));
  }
  std::ranges::stable_sort(slow, std::greater<>(),
                           [](const SlowPeer& peer) { return peer.link.fraction; });
  std::vector<std::string> texts;
  for (const SlowPeer& peer : slow) {
    texts.push_back(fmt::format("rank {}: {:.1f} % worse than the others in {}",
                                row.gpus[peer.link.place].rank, 100 * peer.link.fraction,
                                peer.metric));
  }
  run.report(found("peer.slowest", static_cast<double>(row.gpus[slow.front().link.place].rank),
                   confidence, slow.size()),
             fmt::format("{}", fmt::join(texts, "; ")));
}

void report_all_at_once(JobRun& run, const PeerRow& row, const StreamProbe& shape) {
  const char* metric = "peer.all_at_once_bytes_per_s";
  const NodeTurns& turns = run.node().turns;
  const std::size_t next = row.next();
  if (!row.has(next)) {
    return run.leave_open(metric, "the next GPU cannot be measured: " + row.refusals[next]);
  }
  const Appointment appointment = turns.meet();
  if (!appointment.refusal.empty()) {
    return run.leave_open(metric, appointment.refusal);
  }
  const double usual_rate = run.vector("peer.read_bytes_per_s")->at(next);
  const auto pieces = read_pieces(run, row, shape, usual_rate, appointment.begin_unix_ns);
  const Overlap overlap =
      turns.compare({pieces.front().span.begin_unix_ns, pieces.back().span.end_unix_ns});
  if (!overlap.refusal.empty()) return run.leave_open(metric, overlap.refusal);
  PeerSamples samples(row.gpus.size());
  for (const ReadPiece& piece : pieces) {
    const bool inside = piece.span.begin_unix_ns >= overlap.span.begin_unix_ns &&
                        piece.span.end_unix_ns <= overlap.span.end_unix_ns;
    if (inside) samples[next].push_back(piece.rates);
  }
  if (samples[next].size() < least_pieces) {
    return run.leave_open(metric, fmt::format("all GPUs were at work during only {} of {} pieces",
                                              samples[next].size(), pieces.size()));
  }
  report_row(run, row, metric, samples);
}

}  // namespace

void run_peer(JobRun& run) {
  if (run.node().gpus.size() < 2) {
    return run.leave_open("",
                          "this run measures one GPU of the node (a link has two ends) start a "
                          "rank for each GPU of a node");
  }
  const PeerRow row = meet_peers(run);
  if (row.links() == 0) return run.leave_open("", row.remark());
  run.node().turns.begin();
  const MeasuredRow measured = measure_row(run, row);
  run.node().turns.end();
  std::vector<double> ranks;
  for (const NodeGpu& gpu : row.gpus) ranks.push_back(gpu.rank);
  run.report("peer.ranks", std::move(ranks), 1);
  report_link(run, row);
  report_row(run, row, "peer.latency_cycles", measured.latency_cycles);
  for (std::size_t k = 0; k < link_kinds.size(); ++k) {
    report_row(run, row, link_kinds[k].metric, measured.rates[k]);
  }
  report_slowest(run, row);
  report_all_at_once(run, row, measured.shapes[0]);
}

}  // namespace sonde
