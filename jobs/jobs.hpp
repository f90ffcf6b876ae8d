// Every job, one function each, in the file of its name in this folder. jobs/suite.cpp orders
// them. A job reports what it found by JobRun::report and throws only what a probe throws.
#pragma once

#include "jobs/run/job_run.hpp"

namespace sonde {

void run_device(JobRun& run);
void run_clock(JobRun& run);
void run_cache_l1(JobRun& run);
void run_cache_readonly(JobRun& run);
void run_cache_l2(JobRun& run);
void run_cache_texture_l1(JobRun& run);
void run_cache_texture_l2(JobRun& run);
void run_cache_constant_l1(JobRun& run);
void run_cache_constant_l2(JobRun& run);
void run_cache_constant_l3(JobRun& run);
void run_cache_instruction(JobRun& run);
void run_tlb(JobRun& run);
void run_latency(JobRun& run);
void run_placement(JobRun& run);
void run_shared(JobRun& run);
void run_global_throughput(JobRun& run);
void run_bypass(JobRun& run);

}  // namespace sonde
