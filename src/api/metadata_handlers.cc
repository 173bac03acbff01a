#include "api/metadata_handlers.h"

#include <memory>
#include <utility>

#include "api/welcome_page.h"
#include "cluster/project_number.h"
#include "control/access_token.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::string_view kAccount = "trainyard@localhost";
constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";

/// Clients accept an answer only with this header.
Response Flavored(Response response) {
  response.headers.Set("Metadata-Flavor", "Google");
  response.headers.Set("Server", "Metadata Server for VM");
  return response;
}

std::string AccountJson() {
  std::string json = R"({"aliases":["default"],"email":")";
  json.append(kAccount).append(R"(","scopes":[")").append(kScope).append(R"("]})");
  return json;
}

/// Tokens have no characters that JSON must escape.
Response TokenAnswer(const std::string& token) {
  std::string json = R"({"access_token":")";
  json.append(token).append(R"(","expires_in":)").append(std::to_string(control::kAccessTokenLife.count()));
  json.append(R"(,"token_type":"Bearer"})");
  Response response = Response::Json(std::move(json));
  response.headers.Set("Cache-Control", "no-store");
  return Flavored(std::move(response));
}

awaitable<Result<Response>> Answer(Response response) { co_return Flavored(std::move(response)); }

awaitable<Result<Response>> AccountItem(const MetadataAnswers& answers, Request& request) {
  const std::string& item = request.Parameter("item");
  if (item == "token") {
    TY_CO_TRY(const std::string token, co_await answers.access_token(request.host));
    co_return TokenAnswer(token);
  }
  if (item == "email") co_return Flavored(Response::Text(std::string(kAccount)));
  if (item == "scopes") co_return Flavored(Response::Text(std::string(kScope) + "\n"));
  co_return Flavored(Response::Text("not found\n", 404));
}

awaitable<Result<Response>> Root(const MetadataAnswers& answers, const Request& request) {
  if (!answers.version.empty() && WantsPage(request)) co_return WelcomePage(answers.version);
  co_return Flavored(Response::Text("computeMetadata/\n"));
}

}  // namespace

void AddMetadataRoutes(http::Router& router, MetadataAnswers answers) {
  using http::Method;
  auto shared =
      std::make_shared<MetadataAnswers>(std::move(answers));  // one value for several routes of one router
  constexpr std::string_view kRoot = "/computeMetadata/v1";
  std::string root(kRoot);
  router.Add(Method::kGet, "/", [shared](Request& request) { return Root(*shared, request); });
  router.Add(Method::kGet, root + "/",
             [](Request&) { return Answer(Response::Text("instance/\nproject/\n")); });
  router.Add(Method::kGet, root + "/project/project-id",
             [shared](Request&) { return Answer(Response::Text(shared->project)); });
  router.Add(Method::kGet, root + "/project/numeric-project-id", [shared](Request&) {
    return Answer(Response::Text(std::to_string(cluster::ProjectNumber(shared->project))));
  });
  router.Add(Method::kGet, root + "/universe/universe-domain",
             [shared](Request&) { return Answer(Response::Text(shared->universe_domain())); });
  for (const char* end : {"", "/"}) {
    router.Add(Method::kGet, root + "/instance/service-accounts" + end,
               [](Request&) { return Answer(Response::Text("default/\n" + std::string(kAccount) + "/\n")); });
  }
  for (std::string_view account : {std::string_view("default"), kAccount}) {
    std::string folder = root + "/instance/service-accounts/" + std::string(account);
    for (const char* end : {"", "/"}) {
      router.Add(Method::kGet, folder + end, [](Request&) { return Answer(Response::Json(AccountJson())); });
    }
    router.Add(Method::kGet, folder + "/{item}",
               [shared](Request& request) { return AccountItem(*shared, request); });
  }
}

void AddHealthRoute(http::Router& router) {
  router.Add(http::Method::kGet, "/healthz",
             [](Request&) -> awaitable<Result<Response>> { return Answer(Response::Text("ok\n")); });
}

}  // namespace trainyard::api
