#include "engine/agent/attempt_requests.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/event.h"
#include "net/mux/pump.h"

namespace trainyard::agent {

namespace asio = boost::asio;
using Request = v1::ToAgent::Request;

namespace {

constexpr std::string_view kPath = "/agent/v1/terminal/";
constexpr std::size_t kIdBytesMax = 100;
/// A shell whose terminal was closed ends within this time, or is killed.
constexpr std::chrono::seconds kHangUpMax{1};

v1::FromAgent AnswerTo(const Request& request) {
  v1::FromAgent frame;
  frame.mutable_answer()->set_request(request.request());
  return frame;
}

v1::FromAgent Failed(const Request& request, const Error& error) {
  v1::FromAgent frame = AnswerTo(request);
  frame.mutable_answer()->set_code(static_cast<int>(error.code));
  frame.mutable_answer()->set_message(error.message);
  return frame;
}

/// Converts the state for the server. kUnavailable with the reason: the state cannot be determined now.
Result<v1::AttemptFound> ToFound(const std::string& attempt_id, const engine::Inspection& inspection) {
  v1::AttemptFound found;
  found.set_attempt_id(attempt_id);
  switch (inspection.state) {
    case engine::AttemptState::kPending:
    case engine::AttemptState::kAbsent: return found;
    case engine::AttemptState::kAlive:
      found.set_state(v1::AttemptFound::ALIVE);
      found.set_has_exit(inspection.has_exit);
      return found;
    case engine::AttemptState::kEnded: found.set_state(v1::AttemptFound::ENDED); return found;
    case engine::AttemptState::kLost: found.set_state(v1::AttemptFound::LOST); return found;
    case engine::AttemptState::kUnknown: break;
  }
  return std::unexpected(Unavailable(inspection.why));
}

/// Counts a start while it is under way: the end of the slot waits for it.
class Count {
 public:
  explicit Count(int& count) : count_(count) { ++count_; }
  ~Count() { --count_; }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;

 private:
  int& count_;
};

}  // namespace

struct Terminals::Shell {
  Shell(ChildProcess child, const asio::any_io_executor& loop) : process(std::move(child)), ended(loop) {}
  ChildProcess process;
  Event ended;
};

Terminals::Terminals(asio::any_io_executor loop, Uplink& uplink)
    : loop_(loop), uplink_(uplink), tasks_(std::move(loop)) {}

Status Terminals::CheckId(std::string_view id) {
  const auto fits = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' || c == '_';
  };
  if (!id.empty() && id.size() <= kIdBytesMax && std::ranges::all_of(id, fits)) return {};
  return std::unexpected(InvalidArgument("terminal", "is no name of a terminal"));
}

asio::awaitable<Status> Terminals::Add(std::string id, shell::Terminal terminal) {
  std::string path = std::string(kPath) + id;
  std::shared_ptr<mux::Stream> stream = co_await uplink_.Open(std::move(path), std::chrono::milliseconds(0));
  if (!stream) co_return std::unexpected(Unavailable("the connection to the server is gone"));
  masters_[id].Reset(::fcntl(terminal.master.get(), F_DUPFD_CLOEXEC, 0));
  tasks_.Spawn(Serve(std::move(id), std::move(terminal), std::move(stream)));
  co_return Status();
}

asio::awaitable<void> Terminals::Serve(std::string id, shell::Terminal terminal,
                                       std::shared_ptr<mux::Stream> stream) {
  std::shared_ptr<Shell> shell;
  if (terminal.process) {
    shell = std::make_shared<Shell>(*std::move(terminal.process), loop_);
    tasks_.Spawn(SayEnd(id, shell));
  }
  co_await mux::Pump(std::move(stream), std::move(terminal.master));
  masters_.erase(id);
  if (shell && !co_await shell->ended.WaitFor(kHangUpMax)) std::ignore = shell->process.Kill(SIGKILL);
}

asio::awaitable<void> Terminals::SayEnd(std::string id, std::shared_ptr<Shell> shell) {
  const Result<ExitStatus> ended = co_await shell->process.Wait();
  shell->ended.Set();
  if (!ended) co_return;
  v1::FromAgent frame;
  frame.mutable_shell_ended()->set_terminal(id);
  frame.mutable_shell_ended()->set_status(shell::StatusOf(*ended));
  uplink_.Send(frame);
}

void Terminals::Resize(const std::string& id, shell::TerminalSize size) {
  const auto found = masters_.find(id);
  if (found != masters_.end()) shell::Resize(found->second.get(), size);
}

AttemptRequests::AttemptRequests(asio::any_io_executor loop, engine::AttemptHost& host, Terminals& terminals)
    : host_(host), terminals_(terminals), tasks_(std::move(loop)) {}

void AttemptRequests::Serve(Request request, std::shared_ptr<ControlStream> control) {
  tasks_.Spawn(ServeOne(std::move(request), std::move(control)));
}

asio::awaitable<void> AttemptRequests::ServeOne(Request request, std::shared_ptr<ControlStream> control) {
  if (request.has_collect()) {
    const Status collected = co_await Collect(request, *control);
    if (!collected) control->Send(Failed(request, collected.error()));
  } else {
    Result<Answer> answer = co_await Do(request);
    if (answer) {
      answer->set_request(request.request());
      v1::FromAgent frame;
      *frame.mutable_answer() = *std::move(answer);
      control->Send(frame);
    } else {
      control->Send(Failed(request, answer.error()));
    }
  }
  if (on_served_) on_served_();
}

asio::awaitable<Result<AttemptRequests::Answer>> AttemptRequests::Do(Request request) {
  switch (request.what_case()) {
    case Request::kStart: co_return co_await Start(std::move(*request.mutable_start()));
    case Request::kInspect: co_return co_await Inspect(request.inspect());
    case Request::kHoldingOf: co_return co_await HoldingOf(request.holding_of());
    case Request::kOpenShell: co_return co_await OpenShell(request.open_shell());
    case Request::kKill: {
      engine::AttemptRef attempt{.id = request.kill()};
      TY_CO_RETURN_IF_ERROR(co_await host_.Kill(std::move(attempt)));
      Diagnose(DiagnosticLevel::kInfo, "attempt " + request.kill() + " was killed for the server");
      co_return Answer();
    }
    case Request::kForget: {
      engine::AttemptRef attempt{.id = request.forget()};
      TY_CO_RETURN_IF_ERROR(co_await host_.Forget(std::move(attempt)));
      co_return Answer();
    }
    case Request::kCollect:
    case Request::WHAT_NOT_SET: break;
  }
  co_return std::unexpected(Error{Code::kUnimplemented, "this agent does not know the request", ""});
}

asio::awaitable<Result<AttemptRequests::Answer>> AttemptRequests::Start(v1::ToAgent::Start start) {
  if (!refusal_.empty()) co_return std::unexpected(Unavailable(refusal_));
  const Count under_way(starts_);
  replica::v1::Slot& slot = *start.mutable_slot();
  if (slot.address().empty()) slot.set_address(place_.address);
  if (slot.port() == 0) slot.set_port(place_.port);
  const std::string attempt_id = start.manifest().attempt_id();
  const Status started =
      co_await host_.Start(std::move(*start.mutable_manifest()), std::move(*start.mutable_slot()));
  Diagnose(started ? DiagnosticLevel::kInfo : DiagnosticLevel::kError,
           started ? "attempt " + attempt_id + " has begun"
                   : "attempt " + attempt_id + " cannot begin: " + started.error().message);
  if (!started) co_return std::unexpected(started.error());
  co_return Answer();
}

asio::awaitable<Result<AttemptRequests::Answer>> AttemptRequests::Inspect(std::string attempt_id) {
  engine::AttemptRef attempt{.id = attempt_id};
  const engine::Inspection inspection = co_await host_.Inspect(std::move(attempt));
  Answer answer;
  TY_CO_TRY(*answer.mutable_attempt(), ToFound(attempt_id, inspection));
  co_return answer;
}

asio::awaitable<Result<AttemptRequests::Answer>> AttemptRequests::HoldingOf(std::string attempt_id) {
  engine::AttemptRef attempt{.id = std::move(attempt_id)};
  TY_CO_TRY(const engine::AttemptHost::Holding holding, co_await host_.HoldingOf(std::move(attempt)));
  Answer answer;
  answer.set_job_id(holding.job_id);
  *answer.mutable_devices() = holding.devices;
  answer.set_token(holding.token);
  co_return answer;
}

asio::awaitable<Result<AttemptRequests::Answer>> AttemptRequests::OpenShell(v1::ToAgent::OpenShell open) {
  TY_CO_RETURN_IF_ERROR(Terminals::CheckId(open.terminal()));
  engine::AttemptRef attempt{.id = open.attempt_id()};
  const shell::TerminalSize size{.rows = open.rows(), .columns = open.columns()};
  TY_CO_TRY(shell::Terminal terminal, co_await host_.OpenShell(std::move(attempt), size));
  TY_CO_RETURN_IF_ERROR(co_await terminals_.Add(open.terminal(), std::move(terminal)));
  co_return Answer();
}

/// Sends the exit record, then each chunk in a separate frame, so that no frame is large.
asio::awaitable<Status> AttemptRequests::Collect(const Request& request, ControlStream& control) {
  engine::AttemptRef attempt{.id = request.collect().attempt_id()};
  TY_CO_TRY(engine::AttemptHost::Remains remains,
            co_await host_.Collect(std::move(attempt), request.collect().from_line()));
  v1::FromAgent frame = AnswerTo(request);
  *frame.mutable_answer()->mutable_exit() = std::move(remains.exit);
  *frame.mutable_answer()->mutable_endpoint() = std::move(remains.endpoint);
  frame.mutable_answer()->set_lacks(std::move(remains.lacks));
  for (replica::v1::LogChunk& chunk : remains.chunks) {
    control.Send(frame);
    frame = AnswerTo(request);
    *frame.mutable_answer()->mutable_chunk() = std::move(chunk);
  }
  frame.mutable_answer()->set_last(true);
  control.Send(frame);
  co_return Status();
}

asio::awaitable<std::vector<v1::AttemptFound>> AttemptRequests::FindAll() {
  std::vector<v1::AttemptFound> all;
  const auto attempts = co_await host_.List();
  if (!attempts) {
    Diagnose(DiagnosticLevel::kError, "cannot list the attempts: " + attempts.error().message);
    co_return all;
  }
  for (const engine::AttemptRef& attempt : *attempts) {
    engine::AttemptRef looked_at = attempt;
    const engine::Inspection inspection = co_await host_.Inspect(std::move(looked_at));
    Result<v1::AttemptFound> found = ToFound(attempt.id, inspection);
    if (!found) {
      v1::AttemptFound lives;
      lives.set_attempt_id(attempt.id);
      lives.set_state(v1::AttemptFound::ALIVE);
      found = lives;
    }
    all.push_back(*std::move(found));
  }
  co_return all;
}

}  // namespace trainyard::agent
