#include "store/shard.hpp"

#include "store/hdf5/copy_file.hpp"
#include "store/hdf5/flatten.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/stored_tables.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/points.hpp"
#include "store/run_header.hpp"
#include "store/run_reader.hpp"
#include "trace/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw StoreError(
      fmt::format("cannot write '{}' ({}; the jobs in it so far are kept) free space "
                  "or repair the file system, then go on with --resume",
                  path.string(), reason));
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail(to, error.message());
}

bool file_exists(const fs::path& path) {
  std::error_code error;
  return !path.empty() && fs::exists(path, error);
}

std::vector<JobResult> without_probes(std::vector<JobResult> jobs) {
  for (JobResult& job : jobs) job.probes.clear();
  return jobs;
}

/// True if the jobs that this job builds on are kept; for a second try, if its first try is kept.
/// `kept` holds the jobs before it, since jobs come in running order.
bool has_its_bases(const ResumeFrom& from, const std::string& name,
                   const std::vector<JobResult>& kept) {
  const auto is_kept = [&](const std::string& base) { return find_job(kept, base) != nullptr; };
  if (const auto first = job_of_again(name)) return is_kept(*first);
  return !from.builds_on || std::ranges::all_of(from.builds_on(name), is_kept);
}

/// A file with earlier results of the device.
struct Earlier {
  RunReader reader;
  std::uint64_t row = 0;
  DeviceResult device;  // without traces
};

/// The first file that holds the device under the same configuration: its finished shard, its
/// unfinished shard, or the run file.
std::optional<Earlier> find_earlier(const fs::path& finished, const fs::path& unfinished,
                                    const fs::path& run, const std::string& uuid,
                                    const std::string& config_hash, std::string& note) {
  for (const fs::path& file : {finished, unfinished, run}) {
    if (!file_exists(file)) continue;
    try {
      check_readable(file, Depth::probes);
      RunReader reader(file);
      std::uint64_t row = 0;
      for (const DeviceResult& one : reader.read_inventory()) {
        const Point& point = reader.provenance().points.at(one.point_index);
        if (one.info.uuid == uuid && point.config_hash == config_hash) {
          auto device = std::move(reader.read_devices({row, 1}, Depth::probes).front());
          return Earlier{.reader = std::move(reader), .row = row, .device = std::move(device)};
        }
        ++row;
      }
    } catch (const StoreError& error) {
      note = fmt::format("{}: the GPU is measured anew", error.what());
    }
  }
  return std::nullopt;
}

/// The health before the first job of a resumed run. Errors between the runs count as errors of the
/// run. Counters restart at 0 when the driver is reloaded or the GPU is reset: if a counter fell,
/// all its errors from now on count.
/// @param now unknown if the device was not opened. An unreported counter is 0 both times.
Health health_before(const Health& earlier, const Health& now) {
  if (!is_known(earlier)) return now;
  Health before = earlier;
  if (!is_known(now)) return before;
  before.ecc_corrected = std::min(earlier.ecc_corrected, now.ecc_corrected);
  before.ecc_uncorrected = std::min(earlier.ecc_uncorrected, now.ecc_uncorrected);
  before.foreign_processes = std::max(earlier.foreign_processes, now.foreign_processes);
  return before;
}

}  // namespace

bool is_final(const JobResult& job) {
  return job.status != Status::failed && job.status != Status::not_run;
}

fs::path finished_shard(const fs::path& parts, const std::string& uuid) {
  std::string stem = uuid;  // UUIDs of MIG slices may hold slashes
  std::ranges::replace(stem, '/', '_');
  return parts / (stem + ".h5");
}

struct Shard::State {
  fs::path path;      // the file that is written
  fs::path finished;  // its name after `finish`
  std::optional<hdf5::File> file;
  DeviceResult device;  // without its jobs until it is finished
  std::vector<std::string> jobs;
  std::size_t parts = 0;
  bool broken = false;

  /// Runs one step. After a failed step HDF5 holds data that it cannot write, and another flush
  /// could destroy the good state on the disk, so no further step is allowed.
  void step(const std::function<void()>& work) {
    if (broken || !file) fail(path, broken ? "writing failed before" : "it is finished");
    try {
      work();
    } catch (const StoreError& error) {
      broken = true;
      fail(path, error.what());
    }
  }

  /// Adds a group of tables; groups that were flushed before are never written again.
  void add_part(std::vector<Table> tables, const Names& names) {
    tables = with_names(std::move(tables), names);
    std::erase_if(tables, [](const Table& table) { return table.rows() == 0; });
    write_tables(hdf5::make_groups(*file, part_group(parts++)), tables, Captions::left_out);
    file->flush(hdf5::Durability::synced);
  }

  /// Writes the device, and the findings of its jobs if it has any here.
  void write_device() {
    Names names;
    add_part(flatten({&device, 1}, {}, names), names);
  }

  void close() {
    step([this] {
      write_device();
      file->close();
    });
    file.reset();
  }
};

Shard::Shard(std::unique_ptr<State> state) : state_(std::move(state)) {}
Shard::Shard(Shard&&) noexcept = default;
Shard& Shard::operator=(Shard&&) noexcept = default;

Shard::~Shard() {
  if (!state_ || !state_->file || state_->broken) return;
  try {
    state_->file->close();  // nothing is left to write: every step has flushed
  } catch (const Error&) {
    // What was flushed stays readable.
  }
}

Shard Shard::start(const fs::path& path, const fs::path& finished, const DeviceResult& device,
                   const Provenance& provenance) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->finished = finished;
  state->device = without_jobs(device);
  state->device.point_index = 0;  // a shard has one point
  state->device.status = DeviceOutcome::lost;
  state->device.reason = "its rank did not finish";
  try {
    state->file = hdf5::File::create(path);
  } catch (const StoreError& error) {
    fail(path, error.what());
  }
  state->step([&] {
    write_header(*state->file, provenance);
    Names names;
    std::vector<Table> points = point_tables(provenance, names);
    if (!points.empty()) {
      write_tables(*state->file, with_names(std::move(points), names), Captions::left_out);
    }
    state->write_device();
  });
  return Shard(std::move(state));
}

Shard Shard::extend(const fs::path& parts, const DeviceResult& device) {
  auto state = std::make_unique<State>();
  state->finished = finished_shard(parts, device.info.uuid);
  state->path = state->finished.string() + ".again";
  state->device = without_jobs(device);
  for (const StoredJob& job : stored_jobs(device)) state->jobs.push_back(job.name);
  try {
    copy_whole_file(state->finished, state->path);
    state->file = hdf5::File::open_to_write(state->path);
    state->parts = list_parts(*state->file).size();
  } catch (const StoreError& error) {
    fail(state->path, error.what());
  }
  return Shard(std::move(state));
}

Shard Shard::create(const fs::path& parts, const DeviceResult& device,
                    const Provenance& provenance) {
  const fs::path finished = finished_shard(parts, device.info.uuid);
  Shard shard = start(finished.string() + ".part", finished, device, provenance);
  std::error_code ignored;
  fs::remove(finished, ignored);
  return shard;
}

ResumedShard Shard::resume(const fs::path& parts, const DeviceResult& device,
                           const Provenance& provenance, const ResumeFrom& from) {
  const fs::path finished = finished_shard(parts, device.info.uuid);
  const fs::path unfinished = finished.string() + ".part";
  std::string note;
  const std::optional<Earlier> earlier =
      find_earlier(finished, unfinished, from.run, device.info.uuid, provenance.config_hash, note);
  DeviceResult described = device;
  if (earlier && device.info.name.empty()) described.info = earlier->device.info;  // not opened now
  if (earlier) described.before = health_before(earlier->device.before, device.before);
  // The new shard replaces the old one only when it holds all results of the old one.
  Shard shard = start(unfinished.string() + ".new", finished, described, provenance);
  std::vector<JobResult> done;
  std::vector<JobResult> again;
  if (earlier) {
    for (const StoredJob& job : stored_jobs(earlier->device)) {
      const bool keep = std::ranges::find(from.keep, job.name) != from.keep.end();
      if (!keep && !(is_final(*job.result) && has_its_bases(from, job.name, done))) continue;
      try {
        shard.append(earlier->reader.read_job(earlier->row, job.name));
        (job_of_again(job.name) ? again : done).push_back(*job.result);
      } catch (const Error& error) {
        if (shard.state_->broken) throw;
        note = fmt::format("{}: {} is measured anew", error.what(), job.name);
      }
    }
  }
  rename_or_fail(shard.state_->path, unfinished);
  shard.state_->path = unfinished;
  std::error_code ignored;
  fs::remove(finished, ignored);
  return {.shard = std::move(shard),
          .done = std::move(done),
          .note = std::move(note),
          .again = std::move(again)};
}

void Shard::append_as(const std::string& name, const JobResult& result) {
  require(std::ranges::find(state_->jobs, name) == state_->jobs.end(),
          "the job '" + name + "' is in the shard already");
  state_->step([&] {
    Names names;
    state_->add_part(flatten_jobs({{name, &result}}, {}, names), names);
  });
  state_->jobs.push_back(name);
}

void Shard::append(const JobResult& result) { append_as(result.job, result); }

void Shard::append_again(const JobResult& result) { append_as(again_name(result.job), result); }

void Shard::suspend(const std::string& reason) {
  state_->device.status = DeviceOutcome::incomplete;
  state_->device.reason = reason;
  state_->close();
}

void Shard::finish(const DeviceResult& device) {
  state_->device.status = device.status;
  state_->device.reason = device.reason;
  state_->device.after = device.after;
  state_->device.jobs = without_probes(device.jobs);
  state_->device.again = without_probes(device.again);
  state_->close();
  rename_or_fail(state_->path, state_->finished);
}

}  // namespace sonde
