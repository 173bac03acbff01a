#include <google/protobuf/empty.pb.h>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using identity::Identities;
using identity::KeyFileServer;
namespace v1 = identity::v1;

constexpr std::string_view kKeyFile = "TYPE_GOOGLE_CREDENTIALS_FILE";

std::string_view IdOf(const v1::ServiceAccountKey& key) {
  return std::string_view(key.name()).substr(key.name().rfind('/') + 1);
}

Status CheckKind(const v1::CreateServiceAccountKeyRequest& wanted) {
  const std::string& type = wanted.private_key_type();
  if (!type.empty() && type != "TYPE_UNSPECIFIED" && type != kKeyFile) {
    return std::unexpected(InvalidArgument(
        "private_key_type", "Keys are given out as " + std::string(kKeyFile) + ", not as " + type));
  }
  const std::string& algorithm = wanted.key_algorithm();
  if (!algorithm.empty() && algorithm != "KEY_ALG_UNSPECIFIED" && algorithm != "KEY_ALG_RSA_2048")
    return std::unexpected(
        InvalidArgument("key_algorithm", "Keys are made as KEY_ALG_RSA_2048, not as " + algorithm));
  return {};
}

Result<v1::ServiceAccountKey> KeyOf(Identities& identities, const Request& request) {
  TY_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_TRY(const std::vector<v1::ServiceAccountKey> keys, identities.Keys(account.email()));
  for (const v1::ServiceAccountKey& key : keys) {
    if (IdOf(key) == request.Parameter("key")) return key;
  }
  return std::unexpected(NotFound("Service account key " + request.Parameter("key") + " of " +
                                  account.email() + " does not exist."));
}

awaitable<Result<Response>> SetDisabled(Identities& identities, bool disabled, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<google::protobuf::Empty>(request));
  TY_CO_RETURN_IF_ERROR(co_await identities.SetKeyDisabled(account.email(), request.Parameter("key"),
                                                           disabled, StillMayOf(request)));
  co_return Response::Json("{}\n");
}

}  // namespace

awaitable<Result<Response>> CreateKey(Identities& identities, const KeyFileServer& server, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::CreateServiceAccountKeyRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckKind(body));
  TY_CO_TRY(Identities::MadeKey made, co_await identities.CreateKey(account.email(), StillMayOf(request)));
  made.key.set_private_key_data(
      identity::PrintKeyFile(account, IdOf(made.key), made.private_key_pem, server));
  made.key.set_private_key_type(std::string(kKeyFile));
  Response response = Response::Json(wire::PrintJson(made.key));
  response.headers.Set("Cache-Control", "no-store");
  co_return response;
}

Result<Response> ListKeys(Identities& identities, Request& request) {
  TY_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  v1::ListServiceAccountKeysResponse answer;
  // keyTypes=SYSTEM_MANAGED asks only for keys that do not exist here.
  if (request.HasQuery("keyTypes") && request.Query("keyTypes") == "SYSTEM_MANAGED")
    return Response::Json(wire::PrintJson(answer));
  TY_TRY(std::vector<v1::ServiceAccountKey> keys, identities.Keys(account.email()));
  for (v1::ServiceAccountKey& key : keys) *answer.add_keys() = std::move(key);
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetKey(Identities& identities, Request& request) {
  TY_TRY(const v1::ServiceAccountKey key, KeyOf(identities, request));
  return Response::Json(wire::PrintJson(key));
}

awaitable<Result<Response>> DeleteKey(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_RETURN_IF_ERROR(co_await identities.DeleteKey(account.email(), request.Parameter("key")));
  co_return Response::Json("{}\n");
}

awaitable<Result<Response>> DisableKey(Identities& identities, Request& request) {
  return SetDisabled(identities, true, request);
}

awaitable<Result<Response>> EnableKey(Identities& identities, Request& request) {
  return SetDisabled(identities, false, request);
}

}  // namespace trainyard::api
