// From the sizes of all parts to the layout of the file.
#include "store/plan.hpp"

#include "base/error.hpp"
#include "store/stored_jobs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {

// The JSON library finds these by name.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TableShape, rows, element_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartShape, jobs, tables)

namespace {

void check_job_name(const std::string& job) {
  require(!job.empty() && job != "." && job.find('/') == std::string::npos,
          "a job's name '" + job + "' cannot name a group of the file");
}

std::string name_of(const TableKey& key) { return key.group + "/" + key.dimension; }

TableShape shape_of(const Table& table) {
  TableShape shape{.rows = table.rows(), .element_bytes = {}};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    shape.element_bytes.push_back(element_bytes(table.columns[c].type, table.values[c]));
  }
  return shape;
}

/// A table of the file before it has any part.
TablePlan begin_plan(const Table& table) {
  return {.key = table.key,
          .columns = table.columns,
          .element_bytes = std::vector<std::size_t>(table.columns.size(), 0),
          .first_row = {}};
}

/// Gives the next part its place, after the others.
void add_part(TablePlan& plan, const TableShape& part) {
  plan.first_row.push_back(plan.rows);
  plan.rows += part.rows;
  plan.most_rows = std::max(plan.most_rows, part.rows);
  for (std::size_t c = 0; c < plan.columns.size(); ++c) {
    plan.element_bytes[c] = std::max(plan.element_bytes[c], part.element_bytes.at(c));
  }
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
  TablePlan plan = begin_plan(table);
  add_part(plan, shape_of(table));
  return plan;
}

PartShape shape_of(const RunPart& part) {
  PartShape shape;
  if (part.device) {
    for (const StoredJob& job : stored_jobs(*part.device)) {
      check_job_name(job.name);
      require(std::ranges::find(shape.jobs, job.name) == shape.jobs.end(),
              "the job '" + job.name + "' occurs twice on one device");
      shape.jobs.push_back(job.name);
    }
  }
  for_each_table(part, shape.jobs, [&shape](const Table& table) { add_table(shape, table); });
  return shape;
}

void add_table(PartShape& shape, const Table& table) {
  add_table(shape, table.key, shape_of(table));
}

void add_table(PartShape& shape, const TableKey& key, TableShape table) {
  shape.tables[name_of(key)] = std::move(table);
}

std::string to_json(const PartShape& shape) { return nlohmann::json(shape).dump(); }

PartShape shape_from_json(const std::string& text) {
  return nlohmann::json::parse(text).get<PartShape>();
}

FilePlan make_plan(const std::vector<PartShape>& parts) {
  FilePlan plan;
  plan.jobs = join_jobs(parts);
  for_each_table({}, plan.jobs, [&](const Table& empty) {
    TablePlan& table = plan.tables.emplace_back(begin_plan(empty));
    for (const PartShape& part : parts) {
      const auto own = part.tables.find(name_of(empty.key));
      add_part(table, own != part.tables.end() ? own->second : shape_of(empty));
    }
  });
  return plan;
}

std::uint64_t FilePlan::shift(const ColumnSpec& column, std::size_t part) const {
  if (column.counts.group.empty() || part == 0) return 0;
  const auto table = std::ranges::find(tables, column.counts, &TablePlan::key);
  require(table != tables.end(), "a column counts rows of no table: " + column.name);
  return table->first_row.at(part);
}

}  // namespace sonde
