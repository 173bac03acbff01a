#include "api/own/admin_handlers.h"

#include <utility>

#include "base/wire/json.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Method;
using http::Request;
using http::Response;

constexpr std::size_t kBodyBytesMax = 64 << 10;
constexpr int kNotReady = 503;

/// An empty body is an empty message.
template <class Message>
awaitable<Result<Message>> ReadBody(Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kBodyBytesMax));
  Message message;
  if (!text.empty()) TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, message, ""));
  co_return message;
}

awaitable<Result<Response>> ShowStatus(Administration& administration) {
  const control::v1::AdminStatus status = co_await administration.Status();
  co_return Response::Json(wire::PrintJson(status));
}

awaitable<Result<Response>> SetDrain(Administration& administration, Request& request) {
  TY_CO_TRY(const control::v1::DrainRequest wanted, co_await ReadBody<control::v1::DrainRequest>(request));
  TY_CO_TRY(const control::v1::Drain drain,
            co_await administration.SetDrain(wanted.on(), administration.WhoAsks(request)));
  co_return Response::Json(wire::PrintJson(drain));
}

awaitable<Result<Response>> BeginBackup(Administration& administration, Request& request) {
  TY_CO_TRY(control::v1::BackupRequest wanted, co_await ReadBody<control::v1::BackupRequest>(request));
  if (!wanted.directory().starts_with('/')) {
    co_return std::unexpected(InvalidArgument(
        "directory", "'" + wanted.directory() + "' is no absolute path on the server's machine"));
  }
  const bool from_machine = co_await administration.IsFromMachine(request);
  TY_CO_TRY(const control::v1::Backup backup, administration.BeginBackup(std::move(wanted), from_machine));
  co_return Response::Json(wire::PrintJson(backup));
}

awaitable<Result<Response>> ShowBackup(Administration& administration) {
  co_return Response::Json(wire::PrintJson(administration.LastBackup()));
}

awaitable<Result<Response>> Reload(Administration& administration) {
  TY_CO_TRY(const control::v1::Reload reload, co_await administration.Reload());
  co_return Response::Json(wire::PrintJson(reload));
}

awaitable<Result<Response>> ShowReadiness(Administration& administration) {
  const control::v1::Readiness readiness = co_await administration.CheckReady();
  Response response = Response::Json(wire::PrintJson(readiness));
  if (!readiness.ready()) response.status = kNotReady;
  response.headers.Set("Cache-Control", "no-store");
  co_return response;
}

}  // namespace

void AddAdminRoutes(http::Router& router, Administration& administration) {
  const std::string root = "/trainyard/v1/admin/";
  router.Add(Method::kGet, root + "status",
             [&administration](Request&) { return ShowStatus(administration); });
  router.Add(Method::kPost, root + "drain",
             [&administration](Request& request) { return SetDrain(administration, request); });
  router.Add(Method::kPost, root + "backup",
             [&administration](Request& request) { return BeginBackup(administration, request); });
  router.Add(Method::kGet, root + "backup",
             [&administration](Request&) { return ShowBackup(administration); });
  router.Add(Method::kPost, root + "reload", [&administration](Request&) { return Reload(administration); });
}

void AddReadyRoute(http::Router& router, Administration& administration) {
  router.Add(Method::kGet, "/readyz", [&administration](Request&) { return ShowReadiness(administration); });
}

}  // namespace trainyard::api
