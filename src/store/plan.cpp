// From the sizes of all parts to the layout of the file.
#include "store/plan.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {
namespace {

void check_job_name(const std::string& job) {
  require(!job.empty() && job != "." && job.find('/') == std::string::npos,
          "a job's name '" + job + "' cannot name a group of the file");
}

void add_shape(TablePlan& plan, const TableShape& shape) {
  plan.first_row.push_back(plan.rows);
  plan.row_counts.push_back(shape.rows);
  plan.rows += shape.rows;
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    plan.element_bytes[c] = std::max(plan.element_bytes[c], shape.element_bytes.at(c));
  }
}

/// Tables of one part come in the order of its own jobs: devices, unaudited, then job by job.
struct TableCounts {
  std::size_t ahead = 0;  // tables before the first job
  std::size_t per_job = 0;
};

TableCounts count_tables() {
  return {flatten_device(nullptr).size() + flatten_unaudited({}).size(),
          flatten_job("any", nullptr, 0).size()};
}

std::vector<std::string> join_jobs(const std::vector<PartShape>& parts) {
  std::vector<std::string> jobs;
  for (const PartShape& part : parts) {
    for (const std::string& job : part.jobs) {
      if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
    }
  }
  return jobs;
}

}  // namespace

TablePlan plan_alone(const Table& table) {
  TablePlan plan{.key = table.key,
                 .columns = table.columns,
                 .element_bytes = {},
                 .rows = table.rows(),
                 .first_row = {0},
                 .row_counts = {table.rows()}};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    plan.element_bytes.push_back(element_bytes(table.columns[c].type, table.values[c]));
  }
  return plan;
}

PartShape shape_of(const RunPart& part) {
  PartShape shape;
  if (part.device) {
    for (const JobResult& job : part.device->jobs) {
      check_job_name(job.job);
      require(std::ranges::find(shape.jobs, job.job) == shape.jobs.end(),
              "the job '" + job.job + "' occurs twice on one device");
      shape.jobs.push_back(job.job);
    }
  }
  for_each_table(part, shape.jobs, [&shape](const Table& table) {
    TableShape& one = shape.tables.emplace_back();
    one.rows = table.rows();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      one.element_bytes.push_back(element_bytes(table.columns[c].type, table.values[c]));
    }
  });
  return shape;
}

std::string to_json(const PartShape& shape) {
  nlohmann::json json{{"jobs", shape.jobs}, {"tables", nlohmann::json::array()}};
  for (const TableShape& table : shape.tables) {
    json["tables"].push_back({table.rows, table.element_bytes});
  }
  return json.dump();
}

PartShape shape_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  PartShape shape;
  shape.jobs = json.at("jobs").get<std::vector<std::string>>();
  for (const auto& table : json.at("tables")) {
    shape.tables.push_back(
        {table.at(0).get<std::uint64_t>(), table.at(1).get<std::vector<std::size_t>>()});
  }
  return shape;
}

FilePlan make_plan(const std::vector<PartShape>& parts) {
  FilePlan plan;
  plan.jobs = join_jobs(parts);
  for_each_table({}, plan.jobs, [&plan](const Table& table) {
    TablePlan& one = plan.tables.emplace_back(plan_alone(table));
    one.first_row.clear();
    one.row_counts.clear();
  });
  const TableCounts counts = count_tables();
  for (const PartShape& part : parts) {
    for (std::size_t t = 0; t < plan.tables.size(); ++t) {
      std::size_t index = t;
      if (t >= counts.ahead) {
        const std::string& job = plan.jobs[(t - counts.ahead) / counts.per_job];
        const auto found = std::ranges::find(part.jobs, job);
        const auto place = static_cast<std::size_t>(found - part.jobs.begin());
        index = counts.ahead + place * counts.per_job + (t - counts.ahead) % counts.per_job;
      }
      TableShape none{0, plan.tables[t].element_bytes};
      add_shape(plan.tables[t], index < part.tables.size() ? part.tables[index] : none);
    }
  }
  return plan;
}

std::uint64_t FilePlan::shift(const ColumnSpec& column, std::size_t part) const {
  if (column.counts.group.empty() || part == 0) return 0;
  const auto table = std::ranges::find(tables, column.counts, &TablePlan::key);
  require(table != tables.end(), "a column counts rows of no table: " + column.name);
  return table->first_row.at(part);
}

}  // namespace sonde
