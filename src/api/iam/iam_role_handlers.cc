#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/wire/utf8.h"
#include "rules/iam/roles.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
namespace v1 = identity::v1;

constexpr char kStage[] = "GA";

v1::Role Shown(const iam::Role& role, bool with_permissions) {
  v1::Role shown;
  shown.set_name(std::string(role.name));
  shown.set_title(std::string(role.title));
  shown.set_description(std::string(role.description));
  shown.set_stage(kStage);
  if (!with_permissions) return shown;
  for (const std::string_view permission : role.permissions)
    shown.add_included_permissions(std::string(permission));
  return shown;
}

}  // namespace

/// On one page: there are some dozens.
Result<Response> ListRoles(Request& request) {
  v1::ListRolesResponse answer;
  for (const iam::Role& role : iam::Roles())
    *answer.add_roles() = Shown(role, request.Query("view") == "FULL");
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetRole(Request& request) {
  const std::string name = "roles/" + request.Parameter("role");
  const iam::Role* role = iam::FindRole(name);
  if (role == nullptr)
    return std::unexpected(NotFound("The role named " + wire::ReplaceMalformed(name) + " was not found."));
  return Response::Json(wire::PrintJson(Shown(*role, true)));
}

/// The same for each resource: a role may be bound on its parents.
awaitable<Result<Response>> QueryTestablePermissions(Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::QueryTestablePermissionsRequest>(request));
  if (body.full_resource_name().empty())
    co_return std::unexpected(InvalidArgument("full_resource_name", "The full resource name is required"));
  v1::QueryTestablePermissionsResponse answer;
  for (const std::string_view permission : iam::Permissions()) {
    v1::TestablePermission& one = *answer.add_permissions();
    one.set_name(std::string(permission));
    one.set_stage(kStage);
  }
  co_return Response::Json(wire::PrintJson(answer));
}

}  // namespace trainyard::api
