#include "api/metadata/metadata_handlers.h"

#include <memory>
#include <utility>

#include "api/console/console_handlers.h"
#include "api/metadata/metadata_tree.h"
#include "api/route.h"
#include "base/ascii.h"
#include "control/run/access_token.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::string_view kAccounts = "instance/service-accounts/";
constexpr int kMovedPermanently = 301;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;

/// As Google's: clients only accept an answer with the first field, and the type has no charset.
Response Answer(std::string body, std::string_view type, int status = 200) {
  Response response = Response::Empty(status);
  response.headers.Set("Content-Type", std::string(type));
  response.headers.Set("Metadata-Flavor", "Google");
  response.headers.Set("Server", "Metadata Server for VM");
  response.body = std::move(body);
  return response;
}

Response Text(std::string body, int status = 200) {
  return Answer(std::move(body), "application/text", status);
}
Response Json(std::string body) { return Answer(std::move(body), "application/json"); }

/// Tokens have no characters that JSON must escape.
Response TokenAnswer(const std::string& token) {
  std::string json = R"({"access_token":")";
  json.append(token).append(R"(","expires_in":)").append(std::to_string(control::kAccessTokenLife.count()));
  json.append(R"(,"token_type":"Bearer"})");
  Response response = Json(std::move(json));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

bool IsTokenPath(std::string_view path, std::string_view own_account) {
  if (!path.starts_with(kAccounts)) return false;
  path.remove_prefix(kAccounts.size());
  const std::string_view account = path.substr(0, path.find('/'));
  return (account == "default" || account == own_account) && path.substr(account.size()) == "/token";
}

/// Identifying the caller may require a look at the machine's processes: done only for paths that depend on
/// it. Programs poll the state of their machine once a second.
bool DependsOnInstance(std::string_view path, bool has_accounts) {
  if (path.starts_with(kAccounts.substr(0, kAccounts.size() - 1))) return has_accounts;
  for (const std::string_view same_for_all : {"instance/maintenance-event", "instance/preempted"}) {
    if (path.starts_with(same_for_all)) return false;
  }
  return !path.starts_with("universe");  // the project is that of the job
}

awaitable<Result<Response>> Read(const MetadataAnswers& answers, Request& request, std::string path) {
  MetadataFacts facts{
      .project = answers.project, .project_number = 0, .universe_domain = answers.universe_domain};
  if (DependsOnInstance(path, answers.has_accounts)) {
    TY_CO_TRY(facts.instance, co_await answers.instance(request));
  }
  if (facts.instance) facts.project = facts.instance->project;
  facts.project_number = answers.number_of(facts.project);
  if (facts.instance && answers.has_accounts) facts.account = facts.instance->service_account;
  if (IsTokenPath(path, facts.account)) {
    TY_CO_TRY(const std::string token, co_await answers.access_token(request));
    co_return TokenAnswer(token);
  }
  // oauth2client writes "True".
  const MetadataQuery query{.recursive = EqualsIgnoringCase(request.Query("recursive"), "true"),
                            .alt = std::string(request.Query("alt"))};
  if (!query.alt.empty() && query.alt != "json" && query.alt != "text")
    co_return Text("alt is json or text\n", kBadRequest);
  const auto page = ReadMetadata(MetadataTree(facts), path, query);
  if (!page) co_return Text("not found\n", kNotFound);
  if (page->is_directory && !request.path.ends_with('/')) {
    Response moved = Text("", kMovedPermanently);
    const std::size_t question = request.target.find('?');
    const std::string rest = question == std::string::npos ? "" : request.target.substr(question);
    moved.headers.Set("Location", request.Origin() + request.path + "/" + rest);
    co_return moved;
  }
  co_return page->is_json ? Json(page->body) : Text(page->body);
}

Result<Response> Root(const MetadataAnswers& answers, Request& request) {
  if (answers.has_console && WantsPage(request)) return GoToConsole();
  return Text("computeMetadata/\n");
}

awaitable<Result<Response>> ReadTop(const MetadataAnswers& answers, Request& request) {
  return Read(answers, request, "");
}

awaitable<Result<Response>> ReadPath(const MetadataAnswers& answers, Request& request) {
  return Read(answers, request, request.Parameter("path"));
}

Result<Response> ListVersions(Request&) { return Text("v1/\n"); }

/// Answers as long as the loop runs.
Result<Response> Healthy(Request&) { return Response::Text("ok\n"); }

using iam::Public;

constexpr Where kMetadata = kEverywhere | Where::kMetadataFront;
constexpr Route kRows[] = {
    // Whether the server is up, for programs that start and monitor it: yes or no, without names.
    {Public("GET /healthz"), kEverywhere | Where::kFigures, kBare, kCall<Healthy>},
    // The metadata server has its own rule: the connection identifies the attempt. Other callers get a page.
    {Public("GET /"), kMetadata, kBare, kCall<Root>},
    {Public("GET /computeMetadata/"), kMetadata, kBare, kCall<ListVersions>},
    {Public("GET /computeMetadata/v1"), kMetadata, kBare, kCall<ReadTop>},
    {Public("GET /computeMetadata/v1/"), kMetadata, kBare, kCall<ReadTop>},
    {Public("GET /computeMetadata/v1/{path=**}"), kMetadata, kBare, kCall<ReadPath>},
};

}  // namespace

std::span<const Route> MetadataRoutes() { return kRows; }

}  // namespace trainyard::api
