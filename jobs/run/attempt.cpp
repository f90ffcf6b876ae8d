// One probe that may be refused, as a trace or the reason; the job decides what that means.
#include "jobs/run/attempt.hpp"

#include <utility>

namespace sonde {

Attempt attempt(JobRun& run, std::string label, const ProbeSpec& spec) {
  Attempt attempt;
  const auto refusal = refusal_of([&] { attempt.trace = &run.run(std::move(label), spec); });
  attempt.refusal = refusal.value_or("");
  return attempt;
}

}  // namespace sonde
