#include "cli/command_session.h"

#include <utility>

#include "base/text/percent.h"
#include "base/wire/resource_name.h"
#include "cli/auth/access_token.h"
#include "cli/auth/logins.h"
#include "cli/gcloud/yaml.h"

namespace trainyard::cli {
namespace {

/// Whom to trust there: what the server's own machine says, or what the login was told.
std::string CaFileOf(const SettingSources& sources, const std::string& data_dir, const std::string& server) {
  const std::optional<ServerNote> note = ReadServerNote(sources, data_dir);
  if (note && server.starts_with("https://") && server == note->tls_url) return note->ca_file;
  const ServerLogins kept = ReadLogins(sources);
  const ServerLogin* login = kept.Find(server);
  return login == nullptr ? std::string() : login->ca_file;
}

}  // namespace

Result<ClientSession> OpenSession(const LocalSession& local, std::string program) {
  const auto& [arguments, sources, console] = local;
  TY_TRY(ClientSetting server, ServerOf(arguments, sources));
  const std::string data_dir = DataDirOf(arguments, sources);
  TY_TRY(ClientToken token, FindToken(arguments, sources, data_dir, server.value));
  const std::string ca_file = CaFileOf(sources, data_dir, server.value);
  Result<std::unique_ptr<ApiClient>> made =
      MakeApiClient({.url = server.value,
                     .ca_file = ca_file,
                     .token = token.text,
                     .hidden = server.source == "default" ? WhyNoteIsForbidden(sources, data_dir) : "",
                     .on_wait = [&console] { console.Status(std::string(kServerAway)); }});
  if (!made)
    return std::unexpected(InvalidArgument("", "The server's address [" + server.value +
                                                   "] (from: " + server.source +
                                                   ") is not valid: " + made.error().message));
  ClientSetting project =
      FindProject(sources, arguments.Value("--project"), arguments.Value("--configuration"), server.value);
  ApiClient& client = **made;
  return ClientSession{.client = *std::move(made),
                       .session = {local,
                                   client,
                                   std::move(program),
                                   std::move(server),
                                   std::move(project),
                                   {},
                                   std::move(token.text),
                                   ca_file}};
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

void LocalSession::PrintList(const OutputFormat& format, const Rows& rows,
                             const std::vector<Json>& resources) const {
  if (format.kind == OutputFormat::Kind::kDefault) return console.Table(rows);
  console.Out(PrintResources(resources, format));
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

Status ForEachPage(ApiClient& client, const ApiRequest& list,
                   const std::function<bool(const Json& page)>& visit) {
  std::string page_token;
  do {
    ApiRequest request = list;
    if (!page_token.empty()) request.query.emplace_back("pageToken", page_token);
    TY_TRY(const Json page, CallJson(client, std::move(request)));
    page_token = TextAt(page, "nextPageToken");
    if (!visit(page)) return {};
  } while (!page_token.empty());
  return {};
}

Result<Json> PostJson(ApiClient& client, std::string path, const Json& body) {
  return CallJson(client,
                  {.method = ApiRequest::Method::kPost, .path = std::move(path), .body = PrintCompact(body)});
}

std::string JobReference::Path() const { return JobsPath(project) + "/" + text::PercentEncode(job_id); }

JobReference ParseJobReference(const CommandSession& session, const std::string& text) {
  if (Result<wire::JobName> name = wire::JobName::Parse(text)) return {name->project, name->job_id};
  return {session.project.value, text};
}

std::string UrlOf(const CommandSession& session, std::string_view path) {
  std::string url = session.server.value;
  while (url.ends_with('/')) url.pop_back();
  return url + std::string(path);
}

std::string PageOf(const CommandSession& session, const JobReference& job) {
  return UrlOf(session,
               "/ui/p/" + text::PercentEncode(job.project) + "/jobs/" + text::PercentEncode(job.job_id));
}

std::string JobsPath(const std::string& project) {
  return "/v1/projects/" + text::PercentEncode(project) + "/jobs";
}

}  // namespace trainyard::cli
