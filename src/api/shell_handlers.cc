#include "api/extension_handlers.h"

#include <memory>
#include <utility>

#include "api/system_parameters.h"
#include "base/ascii.h"
#include "shell/session.h"
#include "shell/websocket.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::string_view kProtocol = "websocket";
constexpr std::string_view kVersion = "13";  // RFC 6455

bool WantsWebSocket(const Request& request) {
  return EqualsIgnoringCase(request.headers.Get("Upgrade"), kProtocol);
}

Response HowToOpen(const Request& request) {
  Response response = Response::Text(
      "This is the interactive shell of a training replica: a WebSocket.\n\n"
      "Open it with\n\n    trainyard jobs shell " +
      request.Parameter("job") + " " + request.Parameter("task") +
      "\n\nor with any WebSocket client: binary messages are the terminal's bytes, a text message \"ROWS "
      "COLUMNS\" is its size.\n");
  response.headers.Set("Cache-Control", "no-store");  // the address has the token
  return response;
}

/// 0 if absent.
awaitable<Result<shell::TerminalSize>> SizeOf(const Request& request) {
  shell::TerminalSize size;
  TY_CO_TRY(const int rows, QueryNumber(request, "rows", "rows"));
  TY_CO_TRY(const int columns, QueryNumber(request, "columns", "columns"));
  if (rows != 0) size.rows = rows;
  if (columns != 0) size.columns = columns;
  co_return size;
}

awaitable<Result<Response>> Open(control::JobService& jobs, Request& request) {
  wire::JobName name{request.Parameter("project"), request.Parameter("job")};
  TY_CO_TRY(engine::AttemptRef attempt, co_await jobs.ShellTarget(std::move(name), request.Parameter("task"),
                                                                  std::string(request.Query("token"))));
  if (!WantsWebSocket(request)) co_return HowToOpen(request);
  const std::string key(request.headers.Get("Sec-WebSocket-Key"));
  if (request.headers.Get("Sec-WebSocket-Version") != kVersion || key.empty())
    co_return std::unexpected(InvalidArgument("", "The WebSocket handshake is not that of version 13."));
  TY_CO_TRY(const shell::TerminalSize size, co_await SizeOf(request));
  TY_CO_TRY(shell::Terminal terminal, co_await jobs.OpenShell(std::move(attempt), size));
  auto opened = std::make_shared<shell::Terminal>(std::move(terminal));  // std::function copies its target
  Response response;
  response.headers.Set("Sec-WebSocket-Accept", shell::WebSocketAccept(key));
  response.body = http::UpgradeBody{.protocol = std::string(kProtocol),
                                    .run = [opened](std::shared_ptr<http::ByteStream> stream) {
                                      return shell::RunSession(std::move(*opened), std::move(stream));
                                    }};
  co_return response;
}

}  // namespace

void AddShellRoutes(http::Router& router, control::JobService& jobs) {
  router.Add(http::Method::kGet, "/trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shell",
             [&jobs](Request& request) { return Open(jobs, request); });
}

}  // namespace trainyard::api
