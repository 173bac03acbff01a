#include "api/own/own_handlers.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/console/console_handlers.h"
#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "base/ascii.h"
#include "base/text/percent.h"
#include "control/job_service.h"
#include "control/run/shell_tickets.h"
#include "net/access/caller.h"
#include "net/access/kept_streams.h"
#include "replica/shell/session.h"
#include "replica/shell/websocket.h"

namespace trainyard::api {

using control::ShellTickets;

struct Shells {
  Shells(control::JobService& of, const Clock& used) : jobs(of), clock(used) {}
  control::JobService& jobs;
  const Clock& clock;
  ShellTickets tickets;
};

namespace {

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
  response.headers.Set("Cache-Control", "no-store");  // the address contains the token
  return response;
}

/// The terminal's size; 0 if absent.
Result<shell::TerminalSize> SizeOf(const Request& request) {
  shell::TerminalSize size;
  TY_TRY(const int rows, QueryNumber(request, "rows", "rows"));
  TY_TRY(const int columns, QueryNumber(request, "columns", "columns"));
  if (rows != 0) size.rows = rows;
  if (columns != 0) size.columns = columns;
  return size;
}

/// Upgrades to a WebSocket for the shell.
awaitable<Result<Response>> Upgrade(control::JobService& jobs, engine::AttemptRef attempt, Request& request) {
  const std::string key(request.headers.Get("Sec-WebSocket-Key"));
  if (request.headers.Get("Sec-WebSocket-Version") != kVersion || key.empty())
    co_return std::unexpected(InvalidArgument("", "Only version 13 of the WebSocket protocol is supported."));
  TY_CO_TRY(const shell::TerminalSize size, SizeOf(request));
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

/// Redirects to the page that opens this shell, for callers with a browser.
Response GoToPage(const Request& request) {
  return GoToConsole("/ui/p/" + text::PercentEncode(request.Parameter("project")) + "/jobs/" +
                     text::PercentEncode(request.Parameter("job")) + "/shell/" +
                     text::PercentEncode(request.Parameter("task")));
}

}  // namespace

std::shared_ptr<Shells> ShellsOf(control::JobService& jobs, const Clock& clock) {
  return std::make_shared<Shells>(jobs, clock);
}

awaitable<Result<Response>> OpenShell(control::JobService& jobs, Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_TRY(engine::AttemptRef attempt, co_await jobs.ShellTarget(std::move(name), request.Parameter("task"),
                                                                  std::string(request.Query("token"))));
  if (!WantsWebSocket(request)) co_return WantsPage(request) ? GoToPage(request) : HowToOpen(request);
  co_return co_await Upgrade(jobs, std::move(attempt), request);
}

awaitable<Result<Response>> GiveShellTicket(Shells& shells, Request& request) {
  if (request.caller == nullptr)
    co_return std::unexpected(FailedPrecondition(
        "Shell tickets need --auth on. On this server, trainingOutput.webAccessUris opens the shell"));
  ShellTickets::Shell shell{.job = JobNameOf(request),
                            .task_name = request.Parameter("task"),
                            .principal = request.caller->principal(),
                            .still_may = [caller = request.caller] { return caller->StillMay(); }};
  TY_CO_TRY(const engine::AttemptRef attempt,
            co_await shells.jobs.ShellTarget(shell.job, shell.task_name, ""));
  const std::string ticket = shells.tickets.Give(std::move(shell), shells.clock.Now());
  Response response =
      Response::Json("{\n  \"uri\": \"" + request.Origin() + "/trainyard/v1/shells/" + ticket +
                     "\",\n  \"expiresIn\": \"" + std::to_string(ShellTickets::kLife.count()) + "s\"\n}\n");
  response.headers.Set("Cache-Control", "no-store");
  co_return response;
}

awaitable<Result<Response>> OpenShellByTicket(Shells& shells, Request& request) {
  if (!WantsWebSocket(request))
    co_return std::unexpected(
        InvalidArgument("", "A ticket can only open a WebSocket. This request did not use it up."));
  std::optional<ShellTickets::Shell> shell =
      shells.tickets.Take(request.Parameter("ticket"), shells.clock.Now());
  const bool may = shell && co_await shell->still_may();
  if (!may)
    co_return std::unexpected(
        Error{Code::kUnauthenticated, "The ticket is not valid: it was used before, or it has expired.", ""});
  TY_CO_TRY(engine::AttemptRef attempt,
            co_await shells.jobs.ShellTarget(std::move(shell->job), std::move(shell->task_name), ""));
  TY_CO_TRY(Response response, co_await Upgrade(shells.jobs, std::move(attempt), request));
  access::KeepOnlyWhile(std::move(shell->still_may), response);
  co_return response;
}

}  // namespace trainyard::api
