#include "rules/slurm/rest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>

#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

namespace {

namespace json = boost::json;

/// Before 23.02 a job's fields were sbatch's options with other names. Observed with 22.05.8: "requeue" with
/// any value allows requeueing, and "no_kill" is a string.
bool HasOptions(RestVersion version) { return version == RestVersion::k38; }

/// Since 23.02, numbers that may be unset or infinite have a special form.
json::value Number(RestVersion version, std::int64_t number) {
  if (HasOptions(version)) return number;
  return json::object{{"set", true}, {"infinite", false}, {"number", number}};
}

void PutGiven(json::object& job, std::string_view name, const std::string& value) {
  if (!value.empty()) job[name] = value;
}

/// The variables that sbatch sets for the job's srun and slurmrestd does not. Without them a step over
/// several components assumes that each is as large as the first one, and all tasks of a node see the same
/// GPUs.
std::map<std::string, std::string> Variables(const GangRequest& request) {
  std::map<std::string, std::string> variables;
  const std::size_t groups = request.components.size();
  for (std::size_t i = 0; i < groups; ++i) {
    const Component& component = request.components[i];
    const std::string group = groups > 1 ? "_HET_GROUP_" + std::to_string(i) : "";
    variables["SLURM_NTASKS" + group] = std::to_string(component.replicas.size());
    variables["SLURM_CPUS_PER_TASK" + group] = std::to_string(component.cpus);
    if (component.gpus > 0) variables["SLURM_GPUS_PER_TASK" + group] = GpusPerTask(component);
  }
  return variables;
}

json::value Environment(RestVersion version, const GangRequest& request) {
  json::object by_name;
  json::array lines;
  for (const auto& [name, value] : Variables(request)) {
    by_name[name] = value;
    lines.emplace_back(name + "=" + value);
  }
  if (HasOptions(version)) return by_name;
  return lines;
}

std::int64_t Seconds(SysTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

/// Sets the options of sbatch that have different names or forms in the two interfaces.
void PutOptions(json::object& job, const BatchJob& batch, const Component& component, bool keeps_lost_nodes) {
  job["no_requeue"] = true;
  if (keeps_lost_nodes) job["no_kill"] = "set";
  job["signal"] = std::string(kEndSignal) + "@" + std::to_string(kEndNotice.count());
  // slurmrestd reads other forms as local time; this one is seconds since 1970 (parse_time.c).
  if (batch.times.deadline) job["deadline"] = "uts" + std::to_string(Seconds(*batch.times.deadline));
  PutGiven(job, "gpus_per_task", GpusPerTask(component));
}

void PutFields(json::object& job, const BatchJob& batch, const Component& component, bool keeps_lost_nodes,
               RestVersion version) {
  job["requeue"] = false;
  if (keeps_lost_nodes) job["kill_on_node_fail"] = false;
  job["kill_warning_signal"] = kEndSignal;
  job["kill_warning_delay"] = Number(version, kEndNotice.count());
  if (batch.times.deadline) job["deadline"] = Seconds(*batch.times.deadline);
  // 24.11 writes gres/gpu, and reads both.
  if (component.gpus > 0) job["tres_per_task"] = "gres:gpu:" + GpusPerTask(component);
}

json::object Job(const BatchJob& batch, const GangRequest& request, const Component& component,
                 RestVersion version) {
  json::object job{{"name", JobName(batch.installation, batch.submission.gang)},
                   {"comment", Comment(batch.submission)},
                   {"current_working_directory", "/"},
                   {"standard_output", "/dev/null"},
                   {"environment", Environment(version, request)},
                   {"tasks", component.replicas.size()},
                   {"cpus_per_task", component.cpus}};
  if (const std::int64_t memory = MemoryPerCpu(component); memory > 0)
    job["memory_per_cpu"] = Number(version, memory);
  if (batch.times.limit) job["time_limit"] = Number(version, batch.times.limit->count());
  if (batch.nice > 0) job["nice"] = batch.nice;
  PutGiven(job, "partition", component.options.partition);
  PutGiven(job, "account", component.options.account);
  PutGiven(job, "qos", component.options.qos);
  PutGiven(job, "constraints", component.options.constraint);
  const bool is_plain = request.components.size() == 1;
  if (HasOptions(version)) {
    PutOptions(job, batch, component, is_plain);
  } else {
    PutFields(job, batch, component, is_plain, version);
  }
  return job;
}

}  // namespace

std::string RestTarget(RestVersion version, std::string_view what) {
  return "/slurm/v0.0." + std::to_string(static_cast<int>(version)) + "/" + std::string(what);
}

std::string RestJobTarget(RestVersion version, std::int64_t id) {
  return RestTarget(version, "job/" + std::to_string(id));
}

std::string RestSubmission(const BatchJob& batch, const GangRequest& request, RestVersion version) {
  json::array jobs;
  for (const Component& component : request.components)
    jobs.emplace_back(Job(batch, request, component, version));
  json::object body{{"script", JobScript(batch, request)}};
  if (jobs.size() == 1) {
    body["job"] = std::move(jobs.front());
  } else {
    body["jobs"] = std::move(jobs);
  }
  return json::serialize(body);
}

}  // namespace trainyard::slurm
