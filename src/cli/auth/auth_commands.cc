#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/text/percent.h"
#include "cli/auth/access_token.h"
#include "cli/auth/logins.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"

namespace trainyard::cli {
namespace {

Result<std::unique_ptr<ApiClient>> ClientOf(const ServerLogin& login) {
  return MakeApiClient(
      {.url = login.server, .ca_file = login.ca_file, .token = login.token, .hidden = {}, .on_wait = {}});
}

Result<Json> WhoAmI(ApiClient& client) {
  return CallJson(client, {.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/whoami"});
}

/// --ca-file, or the local server's own certificate for its own address.
std::string CaFileFor(const Arguments& arguments, const SettingSources& sources, const std::string& server) {
  if (const auto named = arguments.Value("--ca-file"))
    return std::filesystem::absolute(*named).lexically_normal().string();
  const auto note = ReadServerNote(sources, DefaultDataDir(sources));
  return note && PlainServer(note->tls_url) == server ? note->ca_file : std::string();
}

/// The login that --server names, else the active one.
Result<ServerLogin> ChosenLogin(const Arguments& arguments, const ServerLogins& kept) {
  const std::string server = PlainServer(arguments.Value("--server").value_or(kept.active));
  if (const ServerLogin* login = kept.Find(server); login != nullptr) return *login;
  return std::unexpected(NotFound(server.empty() ? "You are not logged in to any server."
                                                 : "You are not logged in to [" + server +
                                                       "]. To list your logins: trainyard auth list"));
}

/// The projects in which the token's principal may do something.
Result<std::vector<std::string>> ProjectsOf(ApiClient& client) {
  std::vector<std::string> names;
  const ApiRequest list{.method = ApiRequest::Method::kGet, .path = "/v1/projects"};
  TY_RETURN_IF_ERROR(ForEachPage(client, list, [&names](const Json& page) {
    for (const Json& project : ListAt(page, "projects")) names.push_back(TextAt(project, "projectId"));
    return true;
  }));
  return names;
}

/// --project, or the only one there is to choose.
std::string ChosenProject(const Arguments& arguments, const std::vector<std::string>& projects) {
  if (const auto named = arguments.Value("--project")) return *named;
  return projects.size() == 1 ? projects.front() : std::string();
}

std::string SayProject(const std::string& chosen, const std::vector<std::string>& projects) {
  if (!chosen.empty()) return "Project: " + chosen + ".\n";
  if (projects.empty())
    return "It has no role in any project yet: an administrator gives it one "
           "(trainyard auth token create --help).\n";
  std::string names;
  for (const std::string& name : projects) names += (names.empty() ? "" : ", ") + name;
  return "Projects: " + names + ". Choose one with --project, here or in each command.\n";
}

/// Asks the server who the token is, then keeps it.
ExitStatus LogIn(const LocalSession& session) {
  ServerLogin login;
  login.server = PlainServer(FindServer(session.sources, session.arguments.Value("--server")).value);
  login.ca_file = CaFileFor(session.arguments, session.sources, login.server);
  TY_TRY(login.token, ReadTokenFile(session.arguments.Value("--token-file").value_or("-")));
  TY_TRY(const std::unique_ptr<ApiClient> client, ClientOf(login));
  TY_TRY(const Json who, WhoAmI(*client));
  login.principal = TextAt(who, "principal");
  if (login.principal.empty()) {
    return std::unexpected(FailedPrecondition("The server at " + login.server +
                                              " does not require a login (see serve --auth)."));
  }
  TY_TRY(const std::vector<std::string> projects, ProjectsOf(*client));
  login.project = ChosenProject(session.arguments, projects);
  const std::string end = TextAt(who, "expireTime");
  const std::string said = "Logged in to " + login.server + " as " + login.principal +
                           (end.empty() ? "" : ", valid until " + end) + ".\n" +
                           SayProject(login.project, projects);
  TY_RETURN_IF_ERROR(WriteLogins(session.sources, WithLogin(ReadLogins(session.sources), std::move(login))));
  session.console.Status(said);
  return 0;
}

ExitStatus LogOut(const LocalSession& session) {
  ServerLogins kept = ReadLogins(session.sources);
  TY_TRY(const ServerLogin login, ChosenLogin(session.arguments, kept));
  TY_RETURN_IF_ERROR(WriteLogins(session.sources, WithoutLogin(std::move(kept), login.server)));
  session.console.Status("Logged out of " + login.server + ".\n");
  return 0;
}

/// As logout, and the token is no token any more.
ExitStatus RevokeLogin(const LocalSession& session) {
  TY_TRY(const ServerLogin login, ChosenLogin(session.arguments, ReadLogins(session.sources)));
  TY_TRY(const std::unique_ptr<ApiClient> client, ClientOf(login));
  TY_TRY(const Json who, WhoAmI(*client));
  const std::string id = TextAt(who, "tokenId");
  if (id.empty()) {
    return std::unexpected(FailedPrecondition(
        "The stored credential is not a token of the server. To remove it: trainyard auth logout"));
  }
  TY_TRY(const Json answer,
         CallJson(*client, {.method = ApiRequest::Method::kDelete, .path = "/trainyard/v1/tokens/" + id}));
  session.console.Status("Revoked token " + id + ".\n");
  return LogOut(session);
}

ExitStatus ListLogins(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const ServerLogins kept = ReadLogins(session.sources);
  Rows rows{{"ACTIVE", "SERVER", "PRINCIPAL"}};
  std::vector<Json> resources;
  for (const ServerLogin& login : kept.logins) {
    const bool is_active = login.server == kept.active;
    rows.push_back({is_active ? "*" : "", login.server, login.principal});
    resources.push_back(JsonObject({{"active", JsonBool(is_active)},
                                    {"principal", JsonString(login.principal)},
                                    {"server", JsonString(login.server)}}));
  }
  session.PrintList(format, rows, resources);
  return 0;
}

ExitStatus PrintAccessToken(const LocalSession& session) {
  const std::string data_dir = DataDirOf(session.arguments, session.sources);
  TY_TRY(const ClientSetting server, ServerOf(session.arguments, session.sources));
  TY_TRY(const ClientToken token, FindToken(session.arguments, session.sources, data_dir, server.value));
  if (token.text.empty()) {
    return std::unexpected(NotFound(
        "There is no token for " + server.value +
        ". Log in with trainyard auth login --server URL --token-file FILE, or set TRAINYARD_TOKEN_FILE."));
  }
  session.console.Out(token.text + "\n");
  return 0;
}

constexpr std::string_view kRoles = "roles/";

/// "ml.developer" is roles/ml.developer.
std::vector<std::string> RolesOf(const Arguments& arguments) {
  std::vector<std::string> roles = arguments.Values("--role");
  for (std::string& role : roles) {
    if (!role.starts_with(kRoles)) role.insert(0, kRoles);
  }
  return roles;
}

Result<ApiRequest> CreationOf(const Arguments& arguments) {
  Json body = JsonObject({{"principal", JsonString(arguments.Value("--principal").value_or(""))},
                          {"roles", JsonArray(RolesOf(arguments))},
                          {"projects", JsonArray(arguments.Values("--project"))}});
  if (const auto text = arguments.Value("--life")) {
    const auto life = ParseDuration(*text);
    if (!life)
      return std::unexpected(UsageError("--life", "Must be a number with s, m, h or d; received: " + *text));
    SetMember(body, "lifetime", JsonString(std::to_string(life->count()) + "s"));
  }
  if (const auto text = arguments.Value("--description")) SetMember(body, "description", JsonString(*text));
  return ApiRequest{
      .method = ApiRequest::Method::kPost, .path = "/trainyard/v1/tokens", .body = PrintCompact(body)};
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

ExitStatus CreateToken(const CommandSession& session) {
  TY_TRY(ApiRequest request, CreationOf(session.arguments));
  TY_TRY(const Json made, CallJson(session.client, std::move(request)));
  const std::string end = TextAt(made, "token.expireTime");
  session.console.Status("Token " + TextAt(made, "token.id") + " of " + TextAt(made, "token.principal") +
                         (end.empty() ? ", valid until it is revoked" : ", valid until " + end) +
                         ". It is not shown again.\n");
  session.console.Out(TextAt(made, "text") + "\n");
  return 0;
}

ExitStatus ListTokens(const CommandSession& session) {
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/tokens"};
  if (const auto principal = session.arguments.Value("--principal"))
    request.query.emplace_back("principal", *principal);
  TY_TRY(const Json answer, CallJson(session.client, std::move(request)));
  const std::vector<Json>& tokens = ListAt(answer, "tokens");
  Rows rows{{"ID", "PRINCIPAL", "EXPIRES", "LAST_USED", "ISSUER", "DESCRIPTION"}};
  for (const Json& token : tokens)
    rows.push_back({TextAt(token, "id"), TextAt(token, "principal"), OrDash(TextAt(token, "expireTime")),
                    OrDash(TextAt(token, "lastUseTime")), OrDash(TextAt(token, "issuer")),
                    OrDash(TextAt(token, "description"))});
  session.PrintList(session.format, rows, tokens);
  return 0;
}

ExitStatus RevokeToken(const CommandSession& session) {
  for (const std::string& id : session.arguments.positionals) {
    TY_TRY(const Json answer,
           CallJson(session.client, {.method = ApiRequest::Method::kDelete,
                                     .path = "/trainyard/v1/tokens/" + text::PercentEncode(id)}));
    session.console.Status("Revoked token " + id + ".\n");
  }
  return 0;
}

constexpr FlagSpec kPrincipalFlag =
    Required({"--principal", "PRINCIPAL",
              "Principal that the token authenticates: user:NAME@DOMAIN or serviceAccount:EMAIL."});
constexpr FlagSpec kProjectsFlag =
    Repeated({"--project", "PROJECT", "Project in which the roles are granted. Can be repeated."});

/// Here --project may be given several times.
constexpr auto CreateFlags() {
  auto flags = WithCommonFlags(
      {{"--description", "TEXT", "Description of the token, shown in lists."},
       {"--life", "DURATION",
        "Lifetime of the token: 30m, 8h, 90d. Default: it is valid until it is revoked."},
       kPrincipalFlag,
       Repeated({"--role", "ROLE",
                 "Role to grant to the principal: trainyard.member or roles/trainyard.member. Can be "
                 "repeated. Without --project, it is granted for all projects."})});
  std::ranges::replace_if(
      flags, [](const FlagSpec& flag) { return flag.name == "--project"; }, kProjectsFlag);
  return flags;
}
constexpr auto kCreateFlags = CreateFlags();
constexpr auto kTokenListFlags =
    WithCommonFlags({{"--principal", "PRINCIPAL", "Print only this principal's tokens."}});
constexpr auto kLoginFlags = WithCommonFlags(
    {{"--ca-file", "FILE",
      "CA certificate of the server. Default: the system's CA certificates, or the local server's own."},
     Required({"--token-file", "FILE", "File with the token; - reads it from stdin."})});

const Command kAuthCommands[] = {
    {.spec = {.path = "auth list",
              .summary = "List the servers that this account has logged in to.",
              .flags = kCommonFlags,
              .examples = "auth list"},
     .run = ListLogins},
    {.spec = {.path = "auth login",
              .summary = "Log in to a server with a token, for all later commands.",
              .flags = kLoginFlags,
              .examples =
                  "auth login --server https://yard.example:8443 --ca-file ca.pem --token-file token\n"
                  "auth login --server https://yard.example:8443 --project vision --token-file -"},
     .run = LogIn},
    {.spec = {.path = "auth logout",
              .summary = "Remove the login for a server. Its token stays valid.",
              .flags = kCommonFlags,
              .examples = "auth logout"},
     .run = LogOut},
    {.spec = {.path = "auth print-access-token",
              .summary = "Print the token that commands send.",
              .flags = kCommonFlags,
              .examples = "auth print-access-token"},
     .run = PrintAccessToken},
    {.spec = {.path = "auth revoke",
              .summary = "Revoke the token of a login, and remove the login.",
              .flags = kCommonFlags,
              .examples = "auth revoke"},
     .run = RevokeLogin},
    {.spec =
         {.path = "auth token create",
          .summary = "Create a token for a user or service account, and print it.",
          .flags = kCreateFlags,
          .examples =
              "auth token create --principal user:ann@example.com --role trainyard.member --project vision\n"
              "auth token create --principal user:root@example.com --role trainyard.admin --life 8h"},
     .run = CreateToken},
    {.spec = {.path = "auth token list",
              .summary = "List your tokens; administrators see all tokens.",
              .flags = kTokenListFlags,
              .examples = "auth token list"},
     .run = ListTokens},
    {.spec = {.path = "auth token revoke",
              .summary = "Revoke tokens by their ids.",
              .positional = "TOKEN_ID",
              .repeats = true,
              .flags = kCommonFlags,
              .examples = "auth token revoke 0123456789"},
     .run = RevokeToken},
};

}  // namespace

std::span<const Command> AuthCommands() { return kAuthCommands; }

}  // namespace trainyard::cli
