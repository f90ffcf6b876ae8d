// Findings of a large fleet, metric by metric: what 10,000 devices have of one is needed together,
// and all of them as `Finding`s would take 16 GB. Equal ones that follow each other are kept once.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5/table.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde {

class FindingColumns {
 public:
  /// The next finding of a device. @param device not before that of the finding before
  void add(std::size_t device, const std::string& job, const Finding& finding);

  /// Sorted.
  std::vector<std::string> metrics_of(const std::string& job) const;

  /// Calls `take` with every one of `devices` that has this metric in this job, and what it found.
  void for_each(const std::string& job, const std::string& metric, RowRange devices,
                const std::function<void(std::size_t device, Finding finding)>& take) const;

 private:
  /// What findings have in common that differ in their numbers.
  struct Form {
    std::size_t kind = 0;  // place of the alternative in Value
    Status status = Status::ok;
    std::uint32_t reason = 0;  // in texts_
    double confidence = 0;
    std::uint64_t samples = 0;
    std::uint64_t replicates = 0;
    std::vector<double> modes;
    std::optional<Interval> interval;
  };
  /// All but the metric. Of a text `value` is its place in texts_, of a vector the first of its
  /// `length` numbers in the column.
  struct Kept {
    std::uint32_t form = 0;  // in the column's
    std::uint32_t value = 0;
    std::uint32_t length = 0;
    double number = 0;
    double repeatability = 0;
    double reproducibility = 0;
  };
  /// Deques, which have no room to spare as vectors have.
  struct Column {
    std::deque<std::uint32_t> devices;
    std::deque<std::uint32_t> places;  // of each device, in kept
    std::deque<Kept> kept;
    std::deque<double> numbers;
    std::vector<Form> forms;
  };
  using Key = std::pair<std::string, std::string>;  // job and metric
  using Place = std::map<Key, Column>::iterator;

  Column& column_of(std::size_t device, const std::string& job, const std::string& metric);
  static std::vector<double> vector_of(const Column& column, const Kept& kept);
  bool has_form(const Form& form, const Finding& finding) const;
  bool is_same(const Column& column, const Kept& kept, const Finding& finding) const;
  Kept keep(Column& column, const Finding& finding);
  std::uint32_t place_of(const std::string& text);
  Finding finding_of(const std::string& metric, const Column& column, const Kept& kept) const;

  std::map<Key, Column> columns_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> text_places_;
  // Devices have their findings in the same order, mostly.
  std::vector<Place> order_;
  std::size_t device_ = 0;
  std::size_t next_ = 0;  // in order_
};

}  // namespace sonde
