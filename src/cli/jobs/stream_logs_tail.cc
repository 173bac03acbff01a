#include "cli/jobs/stream_logs_tail.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli/jobs/event_stream.h"
#include "cli/jobs/stream_logs_steps.h"

namespace trainyard::cli {
namespace {

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
      if (!data) return std::unexpected(Error{Code::kDataLoss, "The stream of the log is damaged", ""});
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

}  // namespace

Result<std::optional<StreamEnd>> TailLog(const CommandSession& session, const StreamOptions& options,
                                         const InterruptWatch& interrupt, LogPosition& position) {
  return Follower(session, options, interrupt, position).Run();
}

}  // namespace trainyard::cli
