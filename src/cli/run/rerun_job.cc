#include <ctime>
#include <utility>

#include "cli/run/follow_job.h"
#include "cli/run/rerun.h"
#include "cli/run/run_commands.h"
#include "cli/run/run_variables.h"

namespace trainyard::cli {

ExitStatus RerunFormerJob(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  const JobReference name = ParseJobReference(session, arguments.positionals.front());
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = name.Path()};
  TY_TRY(const Json former, CallJson(session.client, std::move(request)));
  RerunChanges changes;
  changes.args = arguments.passthrough;
  TY_TRY(changes.variables, ReadRunVariables(session));
  for (const std::string& secret : MissingSecrets(former, changes.variables)) {
    TY_TRY(RunVariable variable, ReadSecret(session, secret));
    changes.variables.push_back(std::move(variable));
  }
  const std::optional<std::string> own = arguments.Value("--name");
  const std::string job_id = own ? *own : RerunJobId(name.job_id, LocalNow());
  const auto make = [&](const std::string& id) {
    changes.job_id = id;
    return RerunJob(former, changes);
  };
  TY_TRY(const Json created, CreateNamedJob(session, job_id, own.has_value(), make));
  const std::string created_id = TextAt(created, "jobId");
  session.console.Status("Job [" + created_id + "] submitted, with the input of [" + name.job_id + "].\n");
  return FollowUnlessAsync(session, created_id);
}

}  // namespace trainyard::cli
