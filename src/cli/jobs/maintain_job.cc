#include "cli/jobs/maintain_job.h"

#include <utility>

namespace trainyard::cli {

ExitStatus MaintainJob(const Session& session) {
  const std::vector<std::string>& words = session.arguments.positionals;
  const JobReference job = ParseJobReference(session, words.front());
  const std::string& replica = words.back();
  Json body = JsonObject();
  Set(body, "replica", JsonString(replica));
  ApiRequest request{.method = ApiRequest::Method::kPost,
                     .path = "/trainyard" + job.Path() + ":maintain",
                     .body = PrintCompact(body)};
  TY_TRY([[maybe_unused]] Json answer, CallJson(session.client, std::move(request)));
  session.console.Status("The replica [" + replica + "] of job [" + job.job_id +
                         "] is being stopped and starts again.\n");
  return 0;
}

}  // namespace trainyard::cli
