#include "cli/jobs/job_warnings.h"

namespace trainyard::cli {

void PrintJobWarnings(ApiClient& client, const Console& console, const JobReference& job) {
  const Result<Json> status = CallJson(client, {.path = "/trainyard" + job.Path()});
  if (!status) return;
  for (const Json& warning : ListAt(*status, "warnings")) console.Warn(warning.text);
}

}  // namespace trainyard::cli
