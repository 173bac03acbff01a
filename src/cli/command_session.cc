#include "cli/command_session.h"

#include <utility>

#include "async/file.h"
#include "cli/gcloud/yaml.h"
#include "text/percent.h"
#include "wire/resource_name.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10;

Result<std::string> ReadToken(const Arguments& arguments, const SettingSources& sources) {
  std::optional<std::string> path = arguments.Value("--access-token-file");
  if (!path) path = sources.variable("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE");
  if (!path) return std::string();
  TY_TRY(std::string token, ReadFile(*path, kTokenBytesMax));
  token.erase(token.find_last_not_of(" \r\n\t") + 1);
  return token;
}

}  // namespace

Result<OpenedSession> OpenSession(const Arguments& arguments, const SettingSources& sources,
                                  const Console& console, std::string program) {
  ClientSetting server = FindServer(sources, arguments.Value("--server"));
  TY_TRY(std::string token, ReadToken(arguments, sources));
  const std::optional<ServerNote> note = ReadServerNote(sources, DefaultDataDir(sources));
  const bool noted_tls = note && server.value.starts_with("https://") && server.value == note->tls_url;
  Result<std::unique_ptr<ApiClient>> made = MakeApiClient(
      {.url = server.value,
       .ca_file = noted_tls ? note->ca_file : "",
       .token = std::move(token),
       .hidden = server.source == "default" ? WhyNoteIsForbidden(sources, DefaultDataDir(sources)) : "",
       .on_wait = [&console] { console.Status(std::string(kServerAway)); }});
  if (!made)
    return std::unexpected(InvalidArgument("", "The server's address [" + server.value +
                                                   "] (from: " + server.source +
                                                   ") is not valid: " + made.error().message));
  ClientSetting project =
      FindProject(sources, arguments.Value("--project"), arguments.Value("--configuration"));
  ApiClient& client = **made;
  return OpenedSession{.client = *std::move(made),
                       .session = {.arguments = arguments,
                                   .sources = sources,
                                   .console = console,
                                   .client = client,
                                   .program = std::move(program),
                                   .server = std::move(server),
                                   .project = std::move(project),
                                   .format = {}}};
}

std::optional<std::string> CommandSession::Property(std::string_view section, std::string_view name) const {
  std::optional<ClientSetting> found =
      FindProperty(sources, section, name, arguments.Value("--configuration"));
  if (!found) return std::nullopt;
  return found->value;
}

std::string CommandSession::CommandLine(std::string_view words) const {
  std::string line = program + " " + std::string(words);
  if (arguments.Has("--server") || arguments.Has("--data")) line += " --server=" + server.value;
  if (arguments.Has("--project") || arguments.Has("--configuration")) line += " --project=" + project.value;
  return line;
}

std::string ErrorText(const ApiResponse& response) {
  Result<Json> body = wire::ParseJsonTree(response.body);
  std::string status = body ? TextAt(*body, "error.status") : std::string();
  std::string message = body ? TextAt(*body, "error.message") : std::string();
  if (message.empty()) return "HTTPError " + std::to_string(response.status) + ": " + response.body;
  std::string text =
      (status.empty() ? "HTTPError " + std::to_string(response.status) : status) + ": " + message;
  const Json* details = FindMember(*body, "error.details");
  if (details == nullptr || details->children.empty()) return text;
  Json list = *details;
  list.name.clear();
  std::string yaml = PrintYaml(list);
  yaml.pop_back();
  return text + "\n" + yaml;
}

Result<Json> CallJson(ApiClient& client, ApiRequest request) {
  request.query.emplace_back("alt", "json");
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  TY_TRY(ApiResponse response, client.Send(request));
  if (response.status >= 400)
    return std::unexpected(Error{.code = response.status == 404   ? Code::kNotFound
                                         : response.status == 409 ? Code::kAlreadyExists
                                                                  : Code::kUnknown,
                                 .message = ErrorText(response)});
  if (response.body.empty()) return JsonObject();
  Result<Json> body = wire::ParseJsonTree(response.body);
  if (!body)
    return std::unexpected(Error{.code = Code::kDataLoss,
                                 .message = "The server's answer is not JSON: " + body.error().message});
  return body;
}

std::string JobReference::Path() const { return JobsPath(project) + "/" + text::PercentEncode(job_id); }

JobReference ParseJobReference(const CommandSession& session, const std::string& text) {
  if (Result<wire::JobName> name = wire::JobName::Parse(text)) return {name->project, name->job_id};
  return {session.project.value, text};
}

std::string JobsPath(const std::string& project) {
  return "/v1/projects/" + text::PercentEncode(project) + "/jobs";
}

}  // namespace trainyard::cli
