#include "cli/jobs/stream_logs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/command_session.h"
#include "cli/gcloud/log_view.h"
#include "cli/interrupt.h"
#include "cli/jobs/log_stream.h"

namespace trainyard::cli {
namespace {

enum class Batch { kNothing, kSome, kFull };

/// Prints the entries (a JSON array) after the position. Returns whether there were any.
bool PrintEntries(const Json& entries, const StreamOptions& options, LogPosition& position) {
  bool any = false;
  std::string lines;
  for (const Json& entry : entries.children) {
    if (!position.Advance(TextAt(entry, "timestamp"), TextAt(entry, "insertId"))) continue;
    any = true;
    const bool is_redraw = TextAt(entry, "labels.redraw") == "true";
    for (const std::string& line : LogLines(entry, options.multiline)) {
      lines += line;
      if (is_redraw) lines += kRedrawMark;
      lines += "\n";
    }
  }
  options.print(lines);
  return any;
}

/// Reads and prints new entries, page by page, up to a batch. Without `until`, all of them.
Result<Batch> ReadOnce(const CommandSession& session, const StreamOptions& options, LogPosition& position,
                       std::optional<SysTime> until) {
  LogPosition from = position;  // all pages have the same filter
  std::string page_token;
  int wanted = kLogPageSize;
  bool any = false;
  do {
    TY_TRY(Json page,
           CallJson(session.client,
                    {.method = ApiRequest::Method::kPost,
                     .path = "/v2/entries:list",
                     .body = PrintCompact(LogRequest(options.query, from, until, wanted, page_token)),
                     .patient = true}));
    page_token = TextAt(page, "nextPageToken");
    const Json* entries = FindMember(page, "entries");
    if (entries == nullptr) continue;
    wanted -= static_cast<int>(entries->children.size());
    any = PrintEntries(*entries, options, position) || any;
  } while (!page_token.empty() && wanted > 0);
  if (!any) return Batch::kNothing;
  return wanted > 0 ? Batch::kSome : Batch::kFull;
}

/// Whether the job's endTime is set; its log is then complete. `patient`: see ApiRequest.
Result<bool> HasEnded(const CommandSession& session, const StreamOptions& options, bool patient) {
  JobReference job{options.query.project, options.query.job_id};
  TY_TRY(Json answer, CallJson(session.client, {.path = job.Path(), .patient = patient}));
  return !TextAt(answer, "endTime").empty();
}

/// Prints the entries that arrived while the end was being detected.
Status ReadRest(const CommandSession& session, const StreamOptions& options, LogPosition& position) {
  for (;;) {
    TY_TRY(Batch batch, ReadOnce(session, options, position, std::nullopt));
    if (batch == Batch::kNothing) return {};
  }
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstCheck{20};
constexpr milliseconds kCheckPauseMax{5'000};
constexpr milliseconds kFirstReconnect{50};
constexpr milliseconds kReconnectPauseMax{2'000};
constexpr milliseconds kReconnectMax{30'000};

class Follower {
 public:
  Follower(const CommandSession& session, const StreamOptions& options, const InterruptWatch& interrupt,
           LogPosition& position)
      : session_(session), options_(options), interrupt_(interrupt), position_(position) {}

  Result<std::optional<StreamEnd>> Run() {
    for (;;) {
      Result<std::unique_ptr<ApiStream>> stream = Open();
      if (stream ? IsAbsent((*stream)->status()) : stream.error().code == Code::kUnimplemented)
        return std::nullopt;
      Result<Outcome> outcome = stream ? Follow(**stream) : LostOr(stream.error());
      if (!outcome) return std::unexpected(std::move(outcome).error());
      if (*outcome == Outcome::kEnded) return StreamEnd::kJobEnded;
      if (*outcome == Outcome::kInterrupted) return StreamEnd::kInterrupted;
      if (pause_ > kReconnectMax) return std::unexpected(std::move(lost_because_));
      if (interrupt_.WaitFor(std::min(pause_, kReconnectPauseMax))) return StreamEnd::kInterrupted;
    }
  }

 private:
  enum class Outcome { kEnded, kInterrupted, kLost };

  /// The status of a server without this method.
  static bool IsAbsent(int status) { return status == 404 || status == 405 || status == 501; }

  Result<std::unique_ptr<ApiStream>> Open() {
    const Json list = LogRequest(options_.query, position_, std::nullopt, kLogPageSize, "");
    const ApiRequest request{.method = ApiRequest::Method::kGet,
                             .path = "/v2/entries:tail",
                             .query = {{"resourceNames", "projects/" + options_.query.project},
                                       {"filter", TextAt(list, "filter")}}};
    return session_.client.Open(request);
  }

  static bool MayPass(const Error& error) {
    return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
  }

  /// kLost, unless the server was never reached and the error is permanent.
  Result<Outcome> LostOr(Error error) {
    if (!connected_ && !MayPass(error)) return std::unexpected(std::move(error));
    lost_because_ = std::move(error);
    // A stream that ends is opened again without a word; a server that is away is worth one.
    if (connected_ && lost_at_ && !std::exchange(said_, true)) session_.console.Status(kServerAway);
    pause_ = lost_at_ ? pause_ * 2 : kFirstReconnect;
    if (!lost_at_) lost_at_ = steady_clock::now();
    if (steady_clock::now() - *lost_at_ > kReconnectMax) pause_ = kReconnectMax + milliseconds(1);
    return Outcome::kLost;
  }

  Result<Outcome> Follow(ApiStream& stream) {
    if (stream.status() >= 400) return Refusal(stream);
    EventParser events;
    auto check_pause = kFirstCheck;
    auto check_at = steady_clock::now() + check_pause;
    for (;;) {
      Result<std::string> text = stream.Read(milliseconds(0));
      if (interrupt_.Interrupted()) return Outcome::kInterrupted;
      if (text && text->empty()) return LostOr(Unavailable("the server ended the stream"));
      if (text) {
        connected_ = true;
        lost_at_.reset();
        TY_TRY(const bool any, Show(events.TakeBytes(*text)));
        if (any) check_at = steady_clock::now() + (check_pause = kFirstCheck);
        continue;
      }
      if (text.error().code != Code::kDeadlineExceeded) return LostOr(std::move(text).error());
      if (steady_clock::now() >= check_at) {
        Result<bool> ended = HasEnded(session_, options_, false);
        if (!ended && !MayPass(ended.error())) return std::unexpected(std::move(ended).error());
        if (!ended) return LostOr(std::move(ended).error());
        if (*ended) {
          TY_RETURN_IF_ERROR(ReadRest(session_, options_, position_));
          return Outcome::kEnded;
        }
        check_pause = std::min(check_pause * 2, kCheckPauseMax);
        check_at = steady_clock::now() + check_pause;
      }
      const auto left = std::chrono::ceil<milliseconds>(check_at - steady_clock::now());
      if (interrupt_.WaitForInput(stream.descriptor(), left)) return Outcome::kInterrupted;
    }
  }

  /// Prints new lines. Returns whether there were any.
  Result<bool> Show(const std::vector<ServerEvent>& events) {
    bool any = false;
    for (const ServerEvent& event : events) {
      Result<Json> data = wire::ParseJsonTree(event.data);
      if (!data) return std::unexpected(Error{Code::kDataLoss, "The server sent a damaged log stream", ""});
      if (event.type == "error")
        return std::unexpected(Error{Code::kDataLoss, ErrorText({.status = 500, .body = event.data}), ""});
      if (const Json* entries = FindMember(*data, "entries"))
        any = PrintEntries(*entries, options_, position_) || any;
    }
    return any;
  }

  Result<Outcome> Refusal(ApiStream& stream) {
    ApiResponse response{.status = stream.status()};
    for (;;) {
      Result<std::string> text = stream.Read(kReconnectPauseMax);
      if (!text) return LostOr(std::move(text).error());
      if (text->empty()) break;
      response.body += *text;
    }
    const bool passes = response.status == 429 || response.status >= 500;
    Error error{passes ? Code::kUnavailable : Code::kUnknown, ErrorText(response), ""};
    if (!passes) return std::unexpected(std::move(error));
    return LostOr(std::move(error));
  }

  const CommandSession& session_;
  const StreamOptions& options_;
  const InterruptWatch& interrupt_;
  LogPosition& position_;
  bool connected_ = false;  ///< the server was reached before, so an error may be temporary
  bool said_ = false;       ///< that the server is away
  std::optional<steady_clock::time_point> lost_at_;
  milliseconds pause_{0};
  Error lost_because_;
};

/// Follows the log through entries:tail, from the position on, until the job has ended and its log is printed
/// to the end. Prints lines as soon as they are stored. It checks whether the job has ended soon after a line
/// and then less and less often (the last line of a job comes right before its end). A lost connection is
/// opened again, for up to half a minute, and continues at the position.
/// @return nothing if the server has no entries:tail; the caller then continues at the position. Errors: the
/// server's refusals, that it cannot be reached, and that the job does not exist.
Result<std::optional<StreamEnd>> TailLog(const CommandSession& session, const StreamOptions& options,
                                         const InterruptWatch& interrupt, LogPosition& position) {
  return Follower(session, options, interrupt, position).Run();
}

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
    TY_TRY(Json page, PostJson(session.client, "/v2/entries:list", body));
    page_token = TextAt(page, "nextPageToken");
    std::ranges::copy(ListAt(page, "entries"), std::back_inserter(entries));
  } while (!page_token.empty() && static_cast<int>(entries.size()) < count);
  if (entries.empty()) {  // the job may not exist
    TY_TRY([[maybe_unused]] Json job,
           CallJson(session.client, {.path = JobReference{query.project, query.job_id}.Path()}));
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
