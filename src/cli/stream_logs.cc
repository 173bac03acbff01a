#include "cli/stream_logs.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "cli/interrupt.h"

namespace trainyard::cli {
namespace {

enum class Batch { kNothing, kSome, kFull };

/// Reads and prints what came since, page by page, up to a batch. `until` absent: all there is.
Result<Batch> ReadOnce(const Session& session, const StreamOptions& options, LogPosition& position,
                       std::optional<SysTime> until) {
  LogPosition from = position;  // all pages ask the same question
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
    const Json* entries = Find(page, "entries");
    if (entries == nullptr) continue;
    std::string lines;
    for (const Json& entry : entries->children) {
      --wanted;
      if (!position.Advance(TextAt(entry, "timestamp"), TextAt(entry, "insertId"))) continue;
      any = true;
      for (const std::string& line : LogLines(entry, options.multiline)) lines += line + "\n";
    }
    options.print(lines);
  } while (!page_token.empty() && wanted > 0);
  if (!any) return Batch::kNothing;
  return wanted > 0 ? Batch::kSome : Batch::kFull;
}

Result<bool> HasEnded(const Session& session, const StreamOptions& options) {
  JobReference job{options.query.project, options.query.job_id};
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = job.Path(), .patient = true};
  TY_TRY(Json answer, CallJson(session.client, std::move(request)));
  return !TextAt(answer, "endTime").empty();
}

/// What the log got while the end was being noticed.
Status ReadRest(const Session& session, const StreamOptions& options, LogPosition& position) {
  for (;;) {
    TY_TRY(Batch batch, ReadOnce(session, options, position, std::nullopt));
    if (batch == Batch::kNothing) return {};
  }
}

}  // namespace

Result<StreamEnd> StreamLog(const Session& session, const StreamOptions& options) {
  InterruptWatch interrupt;
  LogPosition position;
  for (;;) {
    SysTime now = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
    TY_TRY(Batch batch, ReadOnce(session, options, position, now));
    if (interrupt.Interrupted()) return StreamEnd::kInterrupted;
    if (batch == Batch::kFull) continue;
    if (batch == Batch::kNothing) {
      TY_TRY(bool ended, HasEnded(session, options));
      if (ended) {
        TY_RETURN_IF_ERROR(ReadRest(session, options, position));
        return StreamEnd::kJobEnded;
      }
    }
    if (interrupt.WaitFor(options.polling_interval)) return StreamEnd::kInterrupted;
  }
}

std::chrono::milliseconds PollingInterval(const Session& session) {
  std::optional<std::string> text = session.arguments.Value("--polling-interval");
  if (!text) text = session.Property("ml_engine", "polling_interval");
  long seconds = text ? std::strtol(text->c_str(), nullptr, 10) : 0;
  return seconds > 0 ? std::chrono::seconds(seconds) : kPollingIntervalDefault;
}

ExitStatus StreamJobLogs(const Session& session) {
  StreamOptions options;
  options.query = {session.project.value, session.arguments.positionals.front(),
                   session.arguments.Value("--task-name")};
  options.polling_interval = PollingInterval(session);
  options.multiline = session.arguments.IsOn("--allow-multiline-logs");
  options.print = [&session](const std::string& lines) { session.console.Out(lines); };
  TY_TRY(StreamEnd end, StreamLog(session, options));
  if (end == StreamEnd::kInterrupted) {
    session.console.Status("\n\nCommand killed by keyboard interrupt\n\n");
    DieOfInterrupt();
  }
  return 0;
}

}  // namespace trainyard::cli
