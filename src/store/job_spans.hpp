// What some outcomes own, from the tables of one job or of all, back to findings and probes.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/owned_rows.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde {

/// How much of a job is read: each has what the one before it has.
enum class Depth { findings, probes, traces };

struct FindingSpans {
  bool joined = false;
  PackedSpan<BoundTable<FindingRow>> findings;
  PackedSpan<ValueTable<double>> vectors, modes;
  PackedSpan<ValueTable<std::uint8_t>> texts, reasons;
};

/// @param job whose tables they are; "": those of all jobs @throws StoreError
FindingSpans read_finding_spans(StoredFile& file, const std::vector<OutcomeRow>& outcomes,
                                const std::string& job = "");

/// The findings of an outcome. Calls nothing of HDF5.
/// @throws StoreError if the rows contradict each other
std::vector<Finding> take_findings(const OutcomeRow& outcome, const FindingSpans& spans);

struct ProbeSpans {
  Depth depth = Depth::probes;
  Span<ProbeRow> probes;
  Span<LaneRow> lanes;
  Span<double> repeats;
  Span<std::uint64_t> visits;
  Span<WindowCount> bins;
  /// In the order of for_each_recording.
  std::vector<std::variant<Span<std::uint32_t>, Span<std::uint64_t>>> recordings;
};

/// Of outcomes of one job. @param depth probes or traces @throws StoreError
ProbeSpans read_probe_spans(StoredFile& file, const std::string& job,
                            const std::vector<OutcomeRow>& outcomes, Depth depth);

/// @throws StoreError if the rows contradict each other
std::vector<ProbeRecord> take_probes(const OutcomeRow& outcome, ProbeSpans& spans);

/// @throws StoreError naming the group of the owned row unless both are of one device
void require_same_device(const std::string& group, std::uint64_t owner, std::uint64_t owned);

/// Jobs have plain names: others could pass for something else wherever they are shown, or lead to
/// other groups.
bool is_job_name(std::string_view name);

}  // namespace sonde
