#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text/percent.h"
#include "cli/auth/auth_commands.h"
#include "cli/auth/life_text.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kRoles = "roles/";

std::vector<std::string> ValuesOf(const Arguments& arguments, std::string_view flag) {
  const auto found = arguments.flags.find(flag);
  return found == arguments.flags.end() ? std::vector<std::string>() : found->second;
}

/// "ml.developer" is roles/ml.developer.
std::vector<std::string> RolesOf(const Arguments& arguments) {
  std::vector<std::string> roles = ValuesOf(arguments, "--role");
  for (std::string& role : roles) {
    if (!role.starts_with(kRoles)) role.insert(0, kRoles);
  }
  return roles;
}

Result<ApiRequest> CreationOf(const Arguments& arguments) {
  Json body = JsonObject();
  SetMember(body, "principal", JsonString(arguments.Value("--principal").value_or("")));
  SetMember(body, "roles", JsonArray(RolesOf(arguments)));
  SetMember(body, "projects", JsonArray(ValuesOf(arguments, "--project")));
  if (const auto text = arguments.Value("--life")) {
    const auto life = ParseLife(*text);
    if (!life)
      return std::unexpected(UsageError("--life", "Must be a number with s, m, h or d; received: " + *text));
    SetMember(body, "lifetime", JsonString(std::to_string(life->count()) + "s"));
  }
  if (const auto text = arguments.Value("--description")) SetMember(body, "description", JsonString(*text));
  return ApiRequest{
      .method = ApiRequest::Method::kPost, .path = "/trainyard/v1/tokens", .body = PrintCompact(body)};
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

ExitStatus CreateToken(const CommandSession& session) {
  TY_TRY(ApiRequest request, CreationOf(session.arguments));
  TY_TRY(const Json made, CallJson(session.client, std::move(request)));
  const std::string end = TextAt(made, "token.expireTime");
  session.console.Status("Token " + TextAt(made, "token.id") + " of " + TextAt(made, "token.principal") +
                         (end.empty() ? ", until it is revoked" : ", until " + end) +
                         ". It is shown this once.\n");
  session.console.Out(TextAt(made, "text") + "\n");
  return 0;
}

ExitStatus ListTokens(const CommandSession& session) {
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/tokens"};
  if (const auto principal = session.arguments.Value("--principal"))
    request.query.emplace_back("principal", *principal);
  TY_TRY(const Json answer, CallJson(session.client, std::move(request)));
  const Json* tokens = FindMember(answer, "tokens");
  if (session.format.kind != OutputFormat::Kind::kDefault) {
    session.console.Out(
        PrintResources(tokens == nullptr ? std::vector<Json>() : tokens->children, session.format));
    return 0;
  }
  Rows rows{{"ID", "PRINCIPAL", "EXPIRES", "LAST_USED", "ISSUER", "DESCRIPTION"}};
  if (tokens != nullptr) {
    for (const Json& token : tokens->children) {
      rows.push_back({TextAt(token, "id"), TextAt(token, "principal"), OrDash(TextAt(token, "expireTime")),
                      OrDash(TextAt(token, "lastUseTime")), OrDash(TextAt(token, "issuer")),
                      OrDash(TextAt(token, "description"))});
    }
  }
  session.console.Table(rows);
  return 0;
}

ExitStatus RevokeToken(const CommandSession& session) {
  for (const std::string& id : session.arguments.positionals) {
    ApiRequest request{.method = ApiRequest::Method::kDelete,
                       .path = "/trainyard/v1/tokens/" + text::PercentEncode(id)};
    TY_TRY(const Json answer, CallJson(session.client, std::move(request)));
    session.console.Status("Revoked token " + id + ".\n");
  }
  return 0;
}

}  // namespace trainyard::cli
