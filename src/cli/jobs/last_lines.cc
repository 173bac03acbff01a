#include "cli/jobs/last_lines.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard::cli {

ExitStatus PrintLastLines(const Session& session, const LogQuery& query, int count, bool multiline) {
  std::vector<Json> entries;  // newest first
  std::string page_token;
  do {
    const int wanted = std::min(kLogPageSize, count - static_cast<int>(entries.size()));
    Json body = LogRequest(query, {}, std::nullopt, wanted, page_token);
    Set(body, "orderBy", JsonString("timestamp desc"));
    ApiRequest request{
        .method = ApiRequest::Method::kPost, .path = "/v2/entries:list", .body = PrintCompact(body)};
    TY_TRY(Json page, CallJson(session.client, std::move(request)));
    page_token = TextAt(page, "nextPageToken");
    if (const Json* list = Find(page, "entries"))
      entries.insert(entries.end(), list->children.begin(), list->children.end());
  } while (!page_token.empty() && static_cast<int>(entries.size()) < count);
  if (entries.empty()) {  // of a job that is not there as well
    ApiRequest request{.method = ApiRequest::Method::kGet,
                       .path = JobReference{query.project, query.job_id}.Path()};
    TY_TRY([[maybe_unused]] Json job, CallJson(session.client, std::move(request)));
  }
  std::string text;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    for (const std::string& line : LogLines(*entry, multiline)) text += line + "\n";
  }
  session.console.Out(text);
  return 0;
}

}  // namespace trainyard::cli
