#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <array>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/wire/field_mask.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using identity::Identities;
namespace v1 = identity::v1;

constexpr std::array<std::string_view, 2> kUpdatable{"display_name", "description"};

awaitable<Result<Response>> Describe(Identities& identities, std::string email,
                                     const v1::ServiceAccount& wanted, const std::vector<std::string>& mask) {
  Identities::AccountTexts texts;
  const auto names = [&](std::string_view name) { return std::ranges::find(mask, name) != mask.end(); };
  if (names("display_name")) texts.display_name = wanted.display_name();
  if (names("description")) texts.description = wanted.description();
  TY_CO_TRY(const v1::ServiceAccount account,
            co_await identities.DescribeServiceAccount(std::move(email), std::move(texts)));
  co_return Response::Json(wire::PrintJson(account));
}

awaitable<Result<Response>> SetDisabled(Identities& identities, bool disabled, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<google::protobuf::Empty>(request));
  TY_CO_RETURN_IF_ERROR(
      co_await identities.SetServiceAccountDisabled(account.email(), disabled, StillMayOf(request)));
  co_return Response::Json("{}\n");
}

}  // namespace

awaitable<Result<Response>> CreateAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::CreateServiceAccountRequest>(request));
  TY_CO_TRY(const v1::ServiceAccount account,
            co_await identities.CreateServiceAccount(request.Parameter("project"), body.account_id(),
                                                     body.service_account().display_name(),
                                                     body.service_account().description()));
  co_return Response::Json(wire::PrintJson(account));
}

/// On one page: a project has at most a hundred.
Result<Response> ListAccounts(Identities& identities, Request& request) {
  v1::ListServiceAccountsResponse answer;
  for (v1::ServiceAccount& account : identities.ServiceAccounts(request.Parameter("project")))
    *answer.add_accounts() = std::move(account);
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetAccount(Identities& identities, Request& request) {
  TY_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  return Response::Json(wire::PrintJson(account));
}

awaitable<Result<Response>> DeleteAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_RETURN_IF_ERROR(co_await identities.DeleteServiceAccount(account.email()));
  co_return Response::Json("{}\n");
}

awaitable<Result<Response>> PatchAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::PatchServiceAccountRequest>(request));
  TY_CO_TRY(const std::vector<std::string> mask, wire::ParseFieldMask(body.update_mask(), kUpdatable));
  if (mask.empty())
    co_return std::unexpected(
        InvalidArgument("update_mask", "The mask must name display_name or description"));
  co_return co_await Describe(identities, account.email(), body.service_account(), mask);
}

/// The older method: takes the whole account, of which only the display name can be changed.
awaitable<Result<Response>> UpdateAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto wanted, co_await ReadMessage<v1::ServiceAccount>(request));
  const std::vector<std::string> mask{"display_name"};
  co_return co_await Describe(identities, account.email(), wanted, mask);
}

awaitable<Result<Response>> DisableAccount(Identities& identities, Request& request) {
  return SetDisabled(identities, true, request);
}

awaitable<Result<Response>> EnableAccount(Identities& identities, Request& request) {
  return SetDisabled(identities, false, request);
}

}  // namespace trainyard::api
