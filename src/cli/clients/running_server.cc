#include "cli/clients/running_server.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/api_client.h"
#include "cli/auth/logins.h"
#include "cli/command_session.h"

namespace trainyard::cli {
namespace {

/// Asks the server's metadata server for a value; empty if it has none.
std::string AskMetadata(ApiClient& client, const std::string& path) {
  ApiRequest request{.method = ApiRequest::Method::kGet,
                     .path = "/computeMetadata/v1/" + path,
                     .headers = {{"Metadata-Flavor", "Google"}}};
  Result<ApiResponse> answer = client.Send(request);
  return answer && answer->status == 200 ? answer->body : std::string();
}

/// The server's address, and what named it.
Result<ClientSetting> NameServer(const Arguments& arguments, const SettingSources& sources,
                                 const std::string& data_dir, const std::optional<ServerNote>& note) {
  const bool by_data = arguments.Has("--data") && !arguments.Has("--server");
  ClientSetting server = FindServer(sources, arguments.Value("--server"));
  if (!by_data && server.source != "default") return server;
  if (const std::string forbidden = WhyNoteIsForbidden(sources, data_dir); !forbidden.empty())
    return std::unexpected(Error{Code::kPermissionDenied, forbidden, ""});
  if (!by_data) return server;
  if (note) return ClientSetting{note->url, data_dir + "/run/server.json"};
  return std::unexpected(NotFound("No server has run with the data directory " + data_dir +
                                  ". Start one: trainyard serve --data " + data_dir));
}

/// The server answers without a token, because it asks nobody to log in.
bool AsksWho(ApiClient& client) {
  const Result<ApiResponse> answer =
      client.Send({.method = ApiRequest::Method::kGet, .path = "/trainyard/v1/whoami"});
  return answer && answer->status == 401;
}

Status CheckHealth(ApiClient& client, const std::string& url) {
  ApiRequest health{.method = ApiRequest::Method::kGet, .path = "/healthz"};
  TY_TRY(ApiResponse answer, client.Send(health));
  if (answer.status == 403)  // the answer says which accounts are allowed
    return std::unexpected(FailedPrecondition("The server at " + url + " refuses: " + ErrorText(answer)));
  if (answer.status == 200) return {};
  return std::unexpected(FailedPrecondition("The server at " + url + " is not a Trainyard server (HTTP " +
                                            std::to_string(answer.status) + " to /healthz)."));
}

}  // namespace

Result<RunningServer> FindRunningServer(const Arguments& arguments, const SettingSources& sources) {
  const std::string named = arguments.Value("--data").value_or(DefaultDataDir(sources));
  const std::string data_dir = std::filesystem::absolute(named).lexically_normal().string();
  std::optional<ServerNote> note = ReadServerNote(sources, data_dir);
  TY_TRY(ClientSetting server, NameServer(arguments, sources, data_dir, note));
  while (server.value.ends_with('/')) server.value.pop_back();
  // This machine's server is asked without TLS, whichever of its addresses is named.
  if (note && server.value == note->tls_url) server.value = note->url;
  RunningServer found{.url = server.value, .where = server.source, .data_dir = data_dir};
  const ServerLogins kept = ReadLogins(sources);
  if (const ServerLogin* login = kept.Find(server.value); login != nullptr) found.ca_file = login->ca_file;
  TY_TRY(std::unique_ptr<ApiClient> client, MakeApiClient({.url = server.value, .ca_file = found.ca_file}));
  TY_RETURN_IF_ERROR(CheckHealth(*client, server.value));
  found.asks_who = AsksWho(*client);
  if (note && note->url == server.value) {
    found.tls_url = note->tls_url;
    found.ca_file = note->ca_file;
    found.project = note->project;
    found.note = std::move(note);
    return found;
  }
  if (note) found.elsewhere = note->url;
  if (!IsOnLoopback(found)) return found;  // its metadata server answers its own machine alone
  const std::string universe = AskMetadata(*client, "universe/universe-domain");
  if (!universe.empty()) found.tls_url = "https://" + universe;
  found.project = AskMetadata(*client, "project/project-id");
  return found;
}

ClientSetting ProjectOf(const RunningServer& found, const Arguments& arguments,
                        const SettingSources& sources) {
  ClientSetting project =
      FindProject(sources, arguments.Value("--project"), arguments.Value("--configuration"), found.url);
  if (project.source == "default" && !found.project.empty()) return {found.project, "the server"};
  return project;
}

}  // namespace trainyard::cli
