#include "cli/command_session.h"

#include <utility>

#include "cli/gcloud/yaml.h"
#include "text/percent.h"
#include "wire/resource_name.h"

namespace trainyard::cli {

std::optional<std::string> CommandSession::Property(std::string_view section, std::string_view name) const {
  std::optional<ClientSetting> found =
      FindProperty(sources, section, name, arguments.Value("--configuration"));
  if (!found) return std::nullopt;
  return found->value;
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
