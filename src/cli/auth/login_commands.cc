#include <filesystem>
#include <memory>
#include <utility>

#include "cli/auth/access_token.h"
#include "cli/auth/auth_commands.h"
#include "cli/auth/kept_logins.h"

namespace trainyard::cli {
namespace {

Result<std::unique_ptr<ApiClient>> ClientOf(const KeptLogin& login) {
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
Result<KeptLogin> ChosenLogin(const Arguments& arguments, const KeptLogins& kept) {
  const std::string server = PlainServer(arguments.Value("--server").value_or(kept.active));
  if (const KeptLogin* login = kept.Find(server); login != nullptr) return *login;
  return std::unexpected(
      NotFound(server.empty() ? "Nobody is logged in to any server here."
                              : "Nobody is logged in to [" + server + "] here. See: trainyard auth list"));
}

}  // namespace

ExitStatus LogIn(const LocalSession& session) {
  KeptLogin login;
  login.server = PlainServer(FindServer(session.sources, session.arguments.Value("--server")).value);
  login.ca_file = CaFileFor(session.arguments, session.sources, login.server);
  TY_TRY(login.token, ReadTokenFile(session.arguments.Value("--token-file").value_or("-")));
  TY_TRY(const std::unique_ptr<ApiClient> client, ClientOf(login));
  TY_TRY(const Json who, WhoAmI(*client));
  login.principal = TextAt(who, "principal");
  if (login.principal.empty()) {
    return std::unexpected(
        FailedPrecondition("The server at " + login.server +
                           " asks nobody who they are (serve --auth on): no login is needed."));
  }
  const std::string end = TextAt(who, "expireTime");
  const std::string said = "Logged in to " + login.server + " as " + login.principal +
                           (end.empty() ? "" : ", until " + end) + ".\n";
  TY_RETURN_IF_ERROR(WriteLogins(session.sources, WithLogin(ReadLogins(session.sources), std::move(login))));
  session.console.Status(said);
  return 0;
}

ExitStatus LogOut(const LocalSession& session) {
  KeptLogins kept = ReadLogins(session.sources);
  TY_TRY(const KeptLogin login, ChosenLogin(session.arguments, kept));
  TY_RETURN_IF_ERROR(WriteLogins(session.sources, WithoutLogin(std::move(kept), login.server)));
  session.console.Status("Logged out of " + login.server + ".\n");
  return 0;
}

ExitStatus RevokeLogin(const LocalSession& session) {
  TY_TRY(const KeptLogin login, ChosenLogin(session.arguments, ReadLogins(session.sources)));
  TY_TRY(const std::unique_ptr<ApiClient> client, ClientOf(login));
  TY_TRY(const Json who, WhoAmI(*client));
  const std::string id = TextAt(who, "tokenId");
  if (id.empty()) {
    return std::unexpected(FailedPrecondition(
        "The login's credential is no token of the server's; forget it with: trainyard auth logout"));
  }
  TY_TRY(const Json answer,
         CallJson(*client, {.method = ApiRequest::Method::kDelete, .path = "/trainyard/v1/tokens/" + id}));
  session.console.Status("Revoked token " + id + ".\n");
  return LogOut(session);
}

ExitStatus ListLogins(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const KeptLogins kept = ReadLogins(session.sources);
  Rows rows{{"ACTIVE", "SERVER", "PRINCIPAL"}};
  std::vector<Json> resources;
  for (const KeptLogin& login : kept.logins) {
    const bool is_active = login.server == kept.active;
    rows.push_back({is_active ? "*" : "", login.server, login.principal});
    Json json = JsonObject();
    SetMember(json, "active", JsonBool(is_active));
    SetMember(json, "principal", JsonString(login.principal));
    SetMember(json, "server", JsonString(login.server));
    resources.push_back(std::move(json));
  }
  if (format.kind == OutputFormat::Kind::kDefault)
    session.console.Table(rows);
  else
    session.console.Out(PrintResources(resources, format));
  return 0;
}

ExitStatus PrintAccessToken(const LocalSession& session) {
  const std::string data_dir = DataDirOf(session.arguments, session.sources);
  TY_TRY(const ClientSetting server, ServerOf(session.arguments, session.sources));
  TY_TRY(const FoundToken token, FindToken(session.arguments, session.sources, data_dir, server.value));
  if (token.text.empty()) {
    return std::unexpected(NotFound("There is no token for " + server.value +
                                    ". Log in: trainyard auth login --server URL --token-file FILE, or name "
                                    "one in TRAINYARD_TOKEN_FILE."));
  }
  session.console.Out(token.text + "\n");
  return 0;
}

}  // namespace trainyard::cli
