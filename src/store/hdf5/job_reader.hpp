// From outcomes along offsets and lengths to all that they own: findings, probes, traces.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/stored_tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// The jobs in the tables of a run file, or of one part of a shard.
class JobReader {
 public:
  /// @throws StoreError if jobs have odd names, or more or fewer probes than their outcomes say
  explicit JobReader(StoredTables tables);

  const StoredTables& tables() const { return tables_; }
  /// In the order in which they came into the file.
  const std::vector<std::string>& jobs_with_probes() const { return jobs_; }

  /// The jobs of each of some devices, from `first` on, with these outcomes, under the names that
  /// they have in the file and in the order in which they ran.
  /// @param only the job that is wanted; empty: all
  /// @throws StoreError if rows contradict each other
  std::vector<std::vector<JobResult>> read(std::uint64_t first,
                                           const std::vector<RowRange>& outcomes, Depth depth,
                                           const std::string& only = "") const;

 private:
  void place_probes();

  StoredTables tables_;
  std::vector<std::string> jobs_;
  std::vector<std::uint64_t> first_probes_;  // of each outcome, in the table of its job
};

}  // namespace sonde
