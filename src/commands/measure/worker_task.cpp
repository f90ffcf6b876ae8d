#include "commands/measure/worker_task.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sonde {

// The JSON library finds these by name.
NLOHMANN_JSON_SERIALIZE_ENUM(TaskKind, {{TaskKind::list_devices, "list_devices"},
                                        {TaskKind::measure, "measure"},
                                        {TaskKind::judge, "judge"},
                                        {TaskKind::measure_again, "measure_again"},
                                        {TaskKind::measure_together, "measure_together"},
                                        {TaskKind::build, "build"},
                                        {TaskKind::analyze, "analyze"}})
NLOHMANN_JSON_SERIALIZE_ENUM(ReportKind, {{ReportKind::devices, "devices"},
                                          {ReportKind::progress, "progress"},
                                          {ReportKind::measured, "measured"},
                                          {ReportKind::stopped, "stopped"},
                                          {ReportKind::job_lost, "job_lost"},
                                          {ReportKind::failed, "failed"},
                                          {ReportKind::finished, "finished"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceChoice, uuid, ordinal, name, sm_count,
                                   shared_carveouts_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeGpu, uuid, rank, reachable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LostJob, job, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Task, kind, rank, ranks, sm_count, point, device, resume,
                                   lost_jobs, again_jobs, limit_s, node_gpus, lost_ranks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AgainTask, uuid, jobs, limit_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, kind, point, devices, job, jobs_done, probes_done,
                                   reason, exit_status, again)

namespace {

using nlohmann::json;

std::string print(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class Message>
Message parse(const std::string& text) {
  try {
    return json::parse(text).get<Message>();
  } catch (const json::exception& error) {
    throw Error(fmt::format("a message between processes is damaged ({})", error.what()));
  }
}

}  // namespace

std::string to_json(const Task& task) { return print(task); }
std::string to_json(const Report& report) { return print(report); }
Task task_from_json(const std::string& text) { return parse<Task>(text); }
Report report_from_json(const std::string& text) { return parse<Report>(text); }

}  // namespace sonde
