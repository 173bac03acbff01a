#include "control/run/web_access.h"

#include "control/run/manifest.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

std::string ShellToken(const Settings& settings, const std::string& attempt_id) {
  return Mac(settings.keys.shell, attempt_id);
}

bool Runs(const v1::ReplicaRecord& replica) {
  return replica.attempt() > 0 && !replica.has_exit() && !replica.restarting();
}

bool HasShells(const v1::JobRecord& job) {
  return job.job().training_input().enable_web_access() && job.job().state() == Job::RUNNING;
}

std::unexpected<Error> NoShell(std::string why) {
  return std::unexpected(FailedPrecondition(std::move(why)));
}

}  // namespace

std::map<std::string, std::string> WebAccessUris(const Settings& settings, const v1::JobRecord& job) {
  std::map<std::string, std::string> uris;
  if (!HasShells(job)) return uris;
  for (int i = 0; i < job.replicas_size(); ++i) {
    const v1::ReplicaRecord& replica = job.replicas(i);
    if (!Runs(replica)) continue;
    const std::string task_name = cluster::TaskName(replica.id());
    std::string& uri = uris[task_name];
    uri = settings.server_url + "/trainyard/v1/projects/" + job.project() + "/jobs/" + job.job().job_id() +
          "/replicas/" + task_name + ":shell";
    if (!settings.auth) uri += "?token=" + ShellToken(settings, AttemptId(job, i, replica.attempt()));
  }
  return uris;
}

Result<engine::AttemptRef> ShellTarget(const Settings& settings, const v1::JobRecord& job,
                                       const std::string& task_name, std::string_view token) {
  for (int i = 0; i < job.replicas_size(); ++i) {
    const v1::ReplicaRecord& replica = job.replicas(i);
    if (cluster::TaskName(replica.id()) != task_name) continue;
    if (!job.job().training_input().enable_web_access())
      return NoShell("The job was not submitted with enableWebAccess, so it has no shells.");
    if (!HasShells(job)) {
      return NoShell("The job is " + Job::State_Name(job.job().state()) +
                     ": replicas have shells while it is RUNNING.");
    }
    if (!Runs(replica)) return NoShell("The replica " + task_name + " does not run now.");
    const std::string attempt_id = AttemptId(job, i, replica.attempt());
    if (!settings.auth && !IsSame(token, ShellToken(settings, attempt_id))) {
      return std::unexpected(
          PermissionDenied("The token does not open this shell. The job's "
                           "trainingOutput.webAccessUris has the one that does."));
    }
    return AttemptRefOf(job, i, replica.attempt());
  }
  return std::unexpected(NotFound("The job has no replica " + task_name + "."));
}

}  // namespace trainyard::control
