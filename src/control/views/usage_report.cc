#include "control/views/usage_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "control/run/manifest.h"
#include "rules/placement/device.h"
#include "rules/placement/device_pool.h"

namespace trainyard::control {

namespace {

using Report = v1::UsageReport;

/// Adds the job's resources; those with an agent are a cluster's.
void AddRoom(const v1::JobRecord& job, Report::Job& out) {
  std::set<std::string> nodes;
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    const replica::v1::Slot& slot = replica.slot();
    const bool is_here = slot.agent().empty();
    if (!is_here) nodes.insert(slot.node());
    for (const std::string& gpu : slot.devices().gpus()) {
      Report::Device& device = *out.add_devices();
      device.set_index(gpu);
      device.set_project(job.project());
      device.set_job_id(job.job().job_id());
      if (is_here) continue;
      device.set_node(slot.node());
      device.set_type(placement::AcceleratorName(replica.accelerators().type()));
    }
  }
  out.mutable_nodes()->Assign(nodes.begin(), nodes.end());
}

double Part(double of, double all) { return all > 0 ? of / all : 0; }

void CompleteJob(const Report::Machine& machine, Report::Job& job) {
  if (!job.nodes().empty()) return;  // it uses nothing on this machine
  for (Report::Device& held : *job.mutable_devices()) {
    const auto known = std::ranges::find(machine.devices(), held.index(), &Report::Device::index);
    if (known != machine.devices().end()) held.set_type(known->type());
  }
  job.set_machine_share(
      std::max({Part(job.cpus(), machine.cpus()),
                Part(static_cast<double>(job.memory_bytes()), static_cast<double>(machine.memory_bytes())),
                Part(job.devices_size(), machine.devices_size())}));
}

/// The order: jobs with resources by age, then the queue by position, then those that wait for something
/// else.
auto RankOf(const Report::Job& job) {
  return std::tuple(!job.holds(), job.position() == 0, job.position(), job.create_time().seconds(),
                    job.create_time().nanos(), job.project(), job.job_id());
}

}  // namespace

Report::Job UsageOf(const v1::JobRecord& job, const std::optional<jobs::Waiting>& waiting) {
  Report::Job out;
  out.set_project(job.project());
  out.set_job_id(job.job().job_id());
  out.set_trial_id(job.trial().trial_id());
  out.set_creator(job.creator());
  out.set_state(job.job().state());
  *out.mutable_since() = job.job().create_time();
  if (job.job().has_start_time()) *out.mutable_since() = job.job().start_time();
  if (job.has_running_time()) *out.mutable_since() = job.running_time();
  *out.mutable_create_time() = job.job().create_time();
  out.set_replicas(job.replicas_size());
  out.set_holds(job.reserved());
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    out.set_cpus(out.cpus() + replica.cpus());
    out.set_memory_bytes(out.memory_bytes() + replica.memory_bytes());
  }
  out.set_accelerators(placement::AskedAccelerators(GangOf(job)));
  if (job.reserved()) AddRoom(job, out);
  if (!waiting) return out;
  out.set_position(waiting->position);
  out.set_reason(waiting->reason);
  out.set_unblock(waiting->unblock);
  return out;
}

void AddJobs(const RunnerRegistry& registry, Report& report) {
  for (const auto& [uid, runner] : registry.all()) {
    if (!runner->job().job().has_end_time())
      *report.add_jobs() = UsageOf(runner->job(), runner->WhyWaiting());
  }
}

void CompleteReport(Report& report) {
  std::map<std::string, Report::Project> projects;
  for (Report::Project& project : *report.mutable_projects()) {
    project.clear_running();
    project.clear_queued();
    std::string name = project.project();
    projects.emplace(std::move(name), std::move(project));
  }
  for (Report::Job& job : *report.mutable_jobs()) {
    CompleteJob(report.machine(), job);
    Report::Project& project = projects[job.project()];
    project.set_project(job.project());
    if (project.weight() == 0) project.set_weight(1);
    if (job.holds()) {
      project.set_running(project.running() + 1);
    } else {
      project.set_queued(project.queued() + 1);
    }
  }
  report.clear_projects();
  for (auto& [name, project] : projects) *report.add_projects() = std::move(project);
  std::ranges::sort(*report.mutable_jobs(), {}, RankOf);
}

}  // namespace trainyard::control
