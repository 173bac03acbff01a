#include "api/own/own_handlers.h"

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

/// Reads the body; an empty one is an empty message.
template <class Message>
awaitable<Result<Message>> ReadBody(Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kBodyBytesMax));
  Message message;
  if (!text.empty()) TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, message, ""));
  co_return message;
}

}  // namespace

awaitable<Result<Response>> ShowServerStatus(Administration& administration, Request&) {
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

Result<Response> ShowBackup(Administration& administration, Request&) {
  return Response::Json(wire::PrintJson(administration.LastBackup()));
}

awaitable<Result<Response>> Reload(Administration& administration, Request&) {
  TY_CO_TRY(const control::v1::Reload reload, co_await administration.Reload());
  co_return Response::Json(wire::PrintJson(reload));
}

awaitable<Result<Response>> ShowReadiness(Administration& administration, Request&) {
  const control::v1::Readiness readiness = co_await administration.CheckReady();
  Response response = Response::Json(wire::PrintJson(readiness));
  if (!readiness.ready()) response.status = kNotReady;
  response.headers.Set("Cache-Control", "no-store");
  co_return response;
}

awaitable<Result<Response>> Attach(const Supervisors& supervisors, Request& request) {
  return supervisors.attach(request);
}

}  // namespace trainyard::api
