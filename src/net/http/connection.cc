#include "net/http/connection.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/watched_executor.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "net/http/incoming.h"
#include "net/http/server_options.h"
#include "net/http/text.h"
#include "net/http/uri.h"

namespace trainyard::http {

namespace {

constexpr std::string_view kEventStream = "text/event-stream";
constexpr std::string_view kBetweenRequests = "http, between requests";

Response ErrorResponse(const Error& error, std::optional<int> status = std::nullopt) {
  return Response::Json(wire::PrintErrorBody(error, status), status.value_or(wire::HttpStatus(error.code)));
}

Response ErrorResponse(HeadError error) {
  const Code code = error.status == 405 ? Code::kUnimplemented : Code::kInvalidArgument;
  return ErrorResponse(Error{code, std::move(error.reason), ""}, error.status);
}

/// The target without the values of its query: some values are credentials (token, access_token, upload_id).
std::string LoggedTarget(const Request& request) {
  std::string target = request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    target.append(1, std::exchange(separator, '&')).append(text::PercentEncode(name));
    if (!value.empty()) target.append("=*");
  }
  return target;
}

}  // namespace

Connection::Connection(const ConnectionContext& context, std::shared_ptr<Channel> channel, FramingRules rules,
                       ConnectionSeat& seat)
    : context_(context), channel_(std::move(channel)), rules_(rules), seat_(seat) {}

asio::awaitable<void> Connection::Run() {
  const Status ready = co_await channel_->Handshake(context_.options.head_wait_max);
  After after = ready ? After::kKeep : After::kClose;
  if (ready && channel_->is_http2()) after = co_await ServeHttp2();
  while (after == After::kKeep) after = co_await ServeOne();
  if (after == After::kCloseGently) {
    Enter(ConnectionPhase::kIdle);
    co_await channel_->CloseGently(context_.options.close_wait_max);
  }
  channel_->Close();
}

void Connection::Stop() {
  if (channel_->signals().on_stop) return channel_->signals().on_stop();
  if (phase_ != ConnectionPhase::kBusy) channel_->Close();
}

asio::awaitable<Connection::After> Connection::ServeHttp2() {
  if (context_.idle_over) co_return After::kClose;
  channel_->signals().on_busy = [this](bool is_busy) {
    Enter(is_busy ? ConnectionPhase::kBusy : ConnectionPhase::kIdle);
  };
  co_await context_.options.http2(channel_);
  channel_->signals().on_busy = nullptr;
  co_return After::kCloseGently;
}

bool Connection::IsWaiting() const {
  return phase_ == ConnectionPhase::kIdle || phase_ == ConnectionPhase::kUnproven;
}

void Connection::Enter(ConnectionPhase phase) {
  phase_ = phase;
  seat_.SetPhase(phase);
}

asio::awaitable<std::optional<Connection::HeadResult>> Connection::ReadHead() {
  const ServerOptions& options = context_.options;
  scanner_.Reset();
  std::optional<std::chrono::steady_clock::time_point> give_up_at;
  while (true) {
    // Some clients end a body with an empty line, which then precedes the next request (RFC 9112 section
    // 2.2).
    while (channel_->Buffered().starts_with("\r\n")) channel_->Consume(2);
    const std::string_view bytes = channel_->Buffered();
    const auto end = scanner_.Scan(bytes);
    if (!end) co_return std::unexpected(end.error());
    if (end->value_or(bytes.size()) > options.head_bytes_max) {
      co_return std::unexpected(HeadError{431, "the request's head is larger than the server accepts"});
    }
    if (*end) {
      auto head = ParseRequestHead(bytes.substr(0, **end));
      channel_->Consume(**end);
      co_return head;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!give_up_at && (first_ || !bytes.empty())) give_up_at = now + options.head_wait_max;
    const Duration wait_max = give_up_at ? *give_up_at - now : Duration(options.idle_wait_max);
    const Result<std::size_t> got = co_await channel_->Fill(wait_max);
    if (got && *got > 0) continue;
    if (channel_->Buffered().empty()) co_return std::nullopt;
    if (got) co_return std::unexpected(HeadError{400, "the request ended within its head"});
    if (got.error().code != Code::kDeadlineExceeded) co_return std::nullopt;
    co_return std::unexpected(HeadError{408, "the request's head took too long"});
  }
}

asio::awaitable<Connection::After> Connection::ServeOne() {
  NameLoopTask(kBetweenRequests);
  Enter(first_ ? ConnectionPhase::kUnproven : ConnectionPhase::kIdle);
  if (context_.idle_over) co_return After::kClose;
  std::optional<HeadResult> head = co_await ReadHead();
  if (!head) co_return After::kClose;
  Enter(ConnectionPhase::kBusy);
  first_ = false;
  if (!*head) co_return co_await Refuse(std::move(*head).error());
  const auto framing = RequestFraming(**head, rules_);
  if (!framing) co_return co_await Refuse(framing.error());
  if (framing->content_length.value_or(0) > context_.options.body_bytes_max) {
    co_return co_await Refuse({413, "the body is larger than the server accepts"});
  }
  co_return co_await Answer(**std::move(head), *framing);
}

asio::awaitable<Connection::After> Connection::Answer(RequestHead head, Framing framing) {
  const auto start = std::chrono::steady_clock::now();
  ResponseContext context;
  context.minor_version = head.minor_version;
  context.keep_alive = framing.keep_alive;
  context.accepts_gzip = AcceptsGzip(head.headers.Get("Accept-Encoding"));
  context.write_wait_max = context_.options.write_wait_max;
  context.to_head = head.method == "HEAD";

  const BodyLimits limits{.bytes_max = context_.options.body_bytes_max,
                          .wait_max = context_.options.body_wait_max,
                          .window_bytes_min = context_.options.body_window_bytes_min,
                          .window = context_.options.body_window};
  RequestBody body(*channel_, framing, limits);
  auto request = MakeRequest(std::move(head), channel_->scheme());
  // From here on the end of the request is known, so the connection is still usable after a refusal.
  if (!request) co_return co_await Reply(ErrorResponse(std::move(request).error()), body, context);
  request->content_length = framing.content_length;
  request->peer = &channel_->peer();
  if (context_.options.look_behind_proxy) context_.options.look_behind_proxy(*request);
  if (const Status admitted = co_await Admitted(*request); !admitted) {
    Response refusal = ErrorResponse(admitted.error());
    Log(*request, refusal.status, start);
    co_return co_await Reply(std::move(refusal), body, context);
  }
  const auto decoded = DecodeBody(*request, body);
  if (!decoded) co_return co_await Reply(ErrorResponse(decoded.error()), body, context);
  request->body = decoded->get() != nullptr ? decoded->get() : &body;

  Result<Response> response = co_await Call(*request);
  if (!response && body.timed_out()) response = ErrorResponse(response.error(), 408);
  if (!response) response = ErrorResponse(response.error());
  if (response->status == 405) response->headers.Set("Allow", context_.router.Allowed(*request));
  Log(*request, response->status, start);
  co_return co_await Reply(*std::move(response), body, context);
}

asio::awaitable<Status> Connection::Admitted(const Request& request) {
  if (context_.options.admit == nullptr) co_return Status();
  co_return co_await context_.options.admit(request);
}

asio::awaitable<Result<Response>> Connection::Call(Request& request) {
  TY_CO_RETURN_IF_ERROR(co_await ApplyMethodOverride(request));
  TY_CO_TRY(const Handler* handler, context_.router.Find(request));
  std::string reason;
  try {
    co_return co_await (*handler)(request);
  } catch (const std::exception& exception) {  // a library's: our code does not throw
    reason = exception.what();
  }
  const asio::cancellation_state cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) {
    throw boost::system::system_error(
        asio::error::operation_aborted);  // the server stops: not the handler's failure
  }
  Diagnose(DiagnosticLevel::kError, "http: " + request.path + ": exception in the handler: " + reason);
  co_return std::unexpected(Internal("Internal error encountered."));
}

asio::awaitable<Connection::After> Connection::Reply(Response response, RequestBody& body,
                                                     ResponseContext context) {
  const std::uint64_t drain_max = context_.options.drain_bytes_max;
  const bool reusable = body.finished() || body.IsWorthDraining(drain_max);
  context.keep_alive = context.keep_alive && reusable && !context_.stopping;
  context.date = context_.date();
  if (std::holds_alternative<StreamBody>(response.body)) {
    phase_ = ConnectionPhase::kStream;
    // Clients resume an interrupted event stream; an interrupted download would be lost.
    if (response.headers.Get("Content-Type") == kEventStream) seat_.SetPhase(phase_);
  }
  const Result<bool> framed = co_await WriteResponse(*channel_, response, context);
  if (!framed) co_return After::kClose;
  if (auto* upgrade = std::get_if<UpgradeBody>(&response.body))
    co_return co_await Upgrade(std::move(*upgrade));
  if (!context.keep_alive || !*framed) co_return After::kCloseGently;
  if (body.finished()) co_return After::kKeep;
  const bool drained = co_await body.Drain(drain_max);
  co_return drained ? After::kKeep : After::kCloseGently;
}

asio::awaitable<Connection::After> Connection::Refuse(HeadError error) {
  Response response = ErrorResponse(std::move(error));
  ResponseContext context;
  context.keep_alive = false;
  context.date = context_.date();
  context.write_wait_max = context_.options.write_wait_max;
  const Result<bool> written = co_await WriteResponse(*channel_, response, context);
  co_return written ? After::kCloseGently : After::kClose;
}

asio::awaitable<Connection::After> Connection::Upgrade(UpgradeBody upgrade) {
  Enter(ConnectionPhase::kKept);
  if (!context_.stopping) co_await upgrade.run(MakeByteStream(channel_, context_.options.write_wait_max));
  co_return After::kClose;
}

void Connection::Log(const Request& request, int status, std::chrono::steady_clock::time_point start) const {
  if (context_.options.counts != nullptr) context_.options.counts->Add(status);
  if (!context_.options.log_requests) return;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  Diagnose(DiagnosticLevel::kDebug, "http: target=" + LoggedTarget(request) + " status=" +
                                        std::to_string(status) + " ms=" + std::to_string(took.count()));
}

}  // namespace trainyard::http
