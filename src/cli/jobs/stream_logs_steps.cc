#include "cli/jobs/stream_logs_steps.h"

#include <string>
#include <utility>

namespace trainyard::cli {

bool PrintEntries(const Json& entries, const StreamOptions& options, LogPosition& position) {
  bool any = false;
  std::string lines;
  for (const Json& entry : entries.children) {
    if (!position.Advance(TextAt(entry, "timestamp"), TextAt(entry, "insertId"))) continue;
    any = true;
    for (const std::string& line : LogLines(entry, options.multiline)) lines += line + "\n";
  }
  options.print(lines);
  return any;
}

Result<Batch> ReadOnce(const CommandSession& session, const StreamOptions& options, LogPosition& position,
                       std::optional<SysTime> until) {
  LogPosition from = position;  // all pages have the same filter
  std::string page_token;
  int wanted = kLogPageSize;
  bool any = false;
  do {
    ApiRequest request{.method = ApiRequest::Method::kPost,
                       .path = "/v2/entries:list",
                       .body = PrintCompact(LogRequest(options.query, from, until, wanted, page_token)),
                       .patient = true};
    TY_TRY(Json page, CallJson(session.client, std::move(request)));
    page_token = TextAt(page, "nextPageToken");
    const Json* entries = FindMember(page, "entries");
    if (entries == nullptr) continue;
    wanted -= static_cast<int>(entries->children.size());
    any = PrintEntries(*entries, options, position) || any;
  } while (!page_token.empty() && wanted > 0);
  if (!any) return Batch::kNothing;
  return wanted > 0 ? Batch::kSome : Batch::kFull;
}

Result<bool> HasEnded(const CommandSession& session, const StreamOptions& options, bool patient) {
  JobReference job{options.query.project, options.query.job_id};
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = job.Path(), .patient = patient};
  TY_TRY(Json answer, CallJson(session.client, std::move(request)));
  return !TextAt(answer, "endTime").empty();
}

Status ReadRest(const CommandSession& session, const StreamOptions& options, LogPosition& position) {
  for (;;) {
    TY_TRY(Batch batch, ReadOnce(session, options, position, std::nullopt));
    if (batch == Batch::kNothing) return {};
  }
}

}  // namespace trainyard::cli
