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

awaitable<Result<Response>> Create(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::CreateServiceAccountRequest>(request));
  TY_CO_TRY(const v1::ServiceAccount account,
            co_await identities.CreateServiceAccount(request.Parameter("project"), body.account_id(),
                                                     body.service_account().display_name(),
                                                     body.service_account().description()));
  co_return Response::Json(wire::PrintJson(account));
}

/// In one page: a project has at most a hundred.
awaitable<Result<Response>> List(Identities& identities, Request& request) {
  v1::ListServiceAccountsResponse answer;
  for (v1::ServiceAccount& account : identities.ServiceAccounts(request.Parameter("project")))
    *answer.add_accounts() = std::move(account);
  co_return Response::Json(wire::PrintJson(answer));
}

awaitable<Result<Response>> Get(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  co_return Response::Json(wire::PrintJson(account));
}

awaitable<Result<Response>> Delete(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_RETURN_IF_ERROR(co_await identities.DeleteServiceAccount(account.email()));
  co_return Response::Json("{}\n");
}

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

awaitable<Result<Response>> Patch(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::PatchServiceAccountRequest>(request));
  TY_CO_TRY(const std::vector<std::string> mask, wire::ParseFieldMask(body.update_mask(), kUpdatable));
  if (mask.empty())
    co_return std::unexpected(
        InvalidArgument("update_mask", "The mask must name display_name or description"));
  co_return co_await Describe(identities, account.email(), body.service_account(), mask);
}

/// The older method: the whole account, of which a display name can be changed.
awaitable<Result<Response>> Update(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto wanted, co_await ReadMessage<v1::ServiceAccount>(request));
  const std::vector<std::string> mask{"display_name"};
  co_return co_await Describe(identities, account.email(), wanted, mask);
}

awaitable<Result<Response>> SetDisabled(Identities& identities, bool disabled, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<google::protobuf::Empty>(request));
  TY_CO_RETURN_IF_ERROR(
      co_await identities.SetServiceAccountDisabled(account.email(), disabled, StillMayOf(request)));
  co_return Response::Json("{}\n");
}

}  // namespace

void AddServiceAccountRoutes(http::Router& router, Identities& identities) {
  using http::Method;
  const std::string accounts = "/v1/projects/{project}/serviceAccounts";
  const std::string account = accounts + "/{account}";
  const MethodForm one{.answer = v1::ServiceAccount::descriptor(), .parameters = {}, .any_project = true};
  const MethodForm made{.answer = v1::ServiceAccount::descriptor(), .parameters = {}};
  const MethodForm list{.answer = v1::ListServiceAccountsResponse::descriptor(),
                        .parameters = {"pageSize", "pageToken"}};
  const MethodForm nothing{
      .answer = google::protobuf::Empty::descriptor(), .parameters = {}, .any_project = true};
  const auto add = [&](Method verb, const std::string& path, const MethodForm& form, auto handler) {
    router.Add(verb, path, WithSystemParameters(form, [&identities, handler](Request& request) {
                 return handler(identities, request);
               }));
  };
  add(Method::kPost, accounts, made, Create);
  add(Method::kGet, accounts, list, List);
  add(Method::kGet, account, one, Get);
  add(Method::kDelete, account, nothing, Delete);
  add(Method::kPatch, account, one, Patch);
  add(Method::kPut, account, one, Update);
  add(Method::kPost, account + ":disable", nothing,
      [](Identities& all, Request& request) { return SetDisabled(all, true, request); });
  add(Method::kPost, account + ":enable", nothing,
      [](Identities& all, Request& request) { return SetDisabled(all, false, request); });
  AddPolicyMethods(router, account, PolicyOwner::kServiceAccount, identities,
                   [&identities](const Request& request) -> Result<iam::Resource> {
                     TY_TRY(const v1::ServiceAccount found, AccountOf(identities, request));
                     return iam::Resource::ServiceAccount(found.project_id(), found.email());
                   });
}

}  // namespace trainyard::api
