#include "cli/jobs/stream_logs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/jobs/stream_logs_steps.h"
#include "cli/jobs/stream_logs_tail.h"

namespace trainyard::cli {
namespace {

/// Polls as gcloud does, for servers without entries:tail.
Result<StreamEnd> PollLog(const CommandSession& session, const StreamOptions& options,
                          const InterruptWatch& interrupt, LogPosition& position) {
  for (;;) {
    SysTime now = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
    TY_TRY(Batch batch, ReadOnce(session, options, position, now));
    if (interrupt.Interrupted()) return StreamEnd::kInterrupted;
    if (batch == Batch::kFull) continue;
    if (batch == Batch::kNothing) {
      TY_TRY(bool ended, HasEnded(session, options, true));
      if (ended) {
        TY_RETURN_IF_ERROR(ReadRest(session, options, position));
        return StreamEnd::kJobEnded;
      }
    }
    if (interrupt.WaitFor(options.polling_interval)) return StreamEnd::kInterrupted;
  }
}

/// Prints the last `count` entries of the log, oldest first, and does not wait for more.
ExitStatus PrintLastLines(const CommandSession& session, const JobLogQuery& query, int count,
                          bool multiline) {
  std::vector<Json> entries;  // newest first
  std::string page_token;
  do {
    const int wanted = std::min(kLogPageSize, count - static_cast<int>(entries.size()));
    Json body = LogRequest(query, {}, std::nullopt, wanted, page_token);
    SetMember(body, "orderBy", JsonString("timestamp desc"));
    ApiRequest request{
        .method = ApiRequest::Method::kPost, .path = "/v2/entries:list", .body = PrintCompact(body)};
    TY_TRY(Json page, CallJson(session.client, std::move(request)));
    page_token = TextAt(page, "nextPageToken");
    if (const Json* list = FindMember(page, "entries"))
      entries.insert(entries.end(), list->children.begin(), list->children.end());
  } while (!page_token.empty() && static_cast<int>(entries.size()) < count);
  if (entries.empty()) {  // the job may not exist
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

}  // namespace

Result<StreamEnd> StreamLog(const CommandSession& session, const StreamOptions& options) {
  InterruptWatch interrupt;
  LogPosition position;
  TY_TRY(std::optional<StreamEnd> end, TailLog(session, options, interrupt, position));
  if (end) return *end;
  return PollLog(session, options, interrupt, position);
}

std::chrono::milliseconds PollingInterval(const CommandSession& session) {
  std::optional<std::string> text = session.arguments.Value("--polling-interval");
  if (!text) text = session.Property("ml_engine", "polling_interval");
  long seconds = text ? std::strtol(text->c_str(), nullptr, 10) : 0;
  return seconds > 0 ? std::chrono::seconds(seconds) : kPollingIntervalDefault;
}

ExitStatus StreamJobLogs(const CommandSession& session) {
  StreamOptions options;
  options.query = {session.project.value, session.arguments.positionals.front(),
                   session.arguments.Value("--task-name")};
  const bool multiline = session.arguments.IsOn("--allow-multiline-logs");
  if (const std::optional<std::string> last = session.arguments.Value("--last"))
    return PrintLastLines(session, options.query, std::atoi(last->c_str()), multiline);
  options.polling_interval = PollingInterval(session);
  options.multiline = multiline;
  options.print = [&session](const std::string& lines) {
    session.console.LogLines(lines, Console::Stream::kOut);
  };
  TY_TRY(StreamEnd end, StreamLog(session, options));
  if (end == StreamEnd::kInterrupted) {
    session.console.Status("\n\nCommand killed by keyboard interrupt\n\n");
    DieOfInterrupt();
  }
  return 0;
}

}  // namespace trainyard::cli
