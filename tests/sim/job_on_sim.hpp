// Runs jobs on a simulated GPU and hands back what they found, next to the declared truth.
#pragma once

#include "device/backends/open_device.hpp"
#include "device/sim/model/die.hpp"
#include "device/sim/model/model_files.hpp"
#include "jobs/run/job_run.hpp"
#include "jobs/suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::test {

/// A simulated GPU with the results of the jobs run on it, one after the other. Results of jobs
/// that are not under test can be put there by `assume`.
class JobOnSim {
 public:
  explicit JobOnSim(const std::string& model, std::uint64_t seed = 1)
      : model_(model), truth_(sim::load_model(model.substr(0, model.find('+')))), seed_(seed) {
    const BackendChoice backend = parse_backend("sim:" + model);
    device_ = open_device(backend, list_visible_devices(backend, 0, seed).at(0), seed);
  }
  JobOnSim(const std::string& model, std::uint64_t seed,
           std::initializer_list<std::string_view> jobs, SuiteLevel level = SuiteLevel::standard)
      : JobOnSim(model, seed) {
    for (const std::string_view job : jobs) run(job, level);
  }
  JobOnSim(const std::string& model, std::initializer_list<std::string_view> jobs,
           SuiteLevel level = SuiteLevel::standard)
      : JobOnSim(model, 1, jobs, level) {}

  const sim::Model& truth() const { return truth_; }
  /// The chip that the model and the seed give.
  sim::Die die() const {
    const sim::FaultyModel faulty = sim::load_faulty_model(model_);
    return sim::make_die(faulty.model, faulty.faults, sim::die_seed(seed_, 0));
  }
  Device& device() { return *device_; }
  std::uint64_t seed() const { return seed_; }

  void assume(std::string metric, Value value) {
    assume(found(std::move(metric), std::move(value), 1, 1));
  }
  void assume(Finding finding) {
    JobResult result;
    result.findings.push_back(std::move(finding));
    results_.push_back(std::move(result));
  }

  /// @throws std::out_of_range for a name that is no job
  void run(std::string_view name, SuiteLevel level = SuiteLevel::standard) {
    const auto job = std::find_if(all_jobs().begin(), all_jobs().end(),
                                  [name](const Job& known) { return known.name == name; });
    if (job == all_jobs().end()) throw std::out_of_range("no job " + std::string(name));
    run_part(job->name, job->run, level);
  }

  /// A part of a job.
  /// @param job its name: metrics without an answer are those of this job
  void run_part(std::string_view job, void (*part)(JobRun&),
                SuiteLevel level = SuiteLevel::standard) {
    JobRun run(*device_, job, level, seed_, results_);
    try {
      part(run);
    } catch (...) {
      results_.push_back(run.take_result());
      throw;
    }
    results_.push_back(run.take_result());
  }

  const Finding* find_if_any(std::string_view metric) const {
    for (const JobResult& result : results_) {
      if (const Finding* finding = find_finding(result.findings, metric)) return finding;
    }
    return nullptr;
  }
  const Finding& find(std::string_view metric) const {
    if (const Finding* finding = find_if_any(metric)) return *finding;
    ADD_FAILURE() << "no finding " << metric;
    static const Finding none;
    return none;
  }
  double number(std::string_view metric) const { return get<double>(metric); }
  std::string text(std::string_view metric) const { return get<std::string>(metric); }
  std::vector<double> vector(std::string_view metric) const {
    return get<std::vector<double>>(metric);
  }
  Status status(std::string_view metric) const { return find(metric).status; }

 private:
  template <class T>
  T get(std::string_view metric) const {
    const Finding& finding = find(metric);
    if (const T* value = std::get_if<T>(&finding.value)) return *value;
    ADD_FAILURE() << metric << " has no such value: " << finding.reason;
    return {};
  }

  std::string model_;  // with its faults
  sim::Model truth_;
  std::uint64_t seed_;
  std::unique_ptr<Device> device_;
  std::vector<JobResult> results_;
};

}  // namespace sonde::test
