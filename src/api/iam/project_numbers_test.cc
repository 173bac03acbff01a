#include <gtest/gtest.h>

#include <string>

#include "api/iam/identity_handlers.h"
#include "api/iam/testing/identity_api_fixture.h"
#include "net/http/router.h"

namespace trainyard::api {
namespace {

class ProjectNumbersTest : public IdentityApiTest {
 protected:
  ProjectNumbersTest() {
    echo_.Add(http::Method::kGet, "/v1/projects/{project}/jobs/{job}", Echo);
    echo_.Add(http::Method::kGet, "/v1/roles/{role}", Echo);
    echo_.Wrap([this](const http::Router::RouteInfo&, http::Handler handler) -> http::Handler {
      return [this, handler = std::move(handler)](http::Request& request) {
        checked_ = request.parameters.front().second;
        return handler(request);
      };
    });
    for (http::Router* router : {&echo_, &router_}) TakeProjectNumbers(*router, *identities_);
  }
  /// Answers with the values of the path's parameters and of the query.
  static http::asio::awaitable<Result<http::Response>> Echo(http::Request& request) {
    std::string text;
    for (const auto& fields : {request.parameters, request.query})
      for (const auto& [name, value] : fields) text += value + " ";
    co_return http::Response::Text(text);
  }
  std::string Seen(const std::string& path) {
    http::Request request;
    request.path = std::string(http::SplitTarget(path).path);
    request.query = http::ParseQuery(http::SplitTarget(path).query).value();
    const Result<http::Response> response = Ask((**echo_.Find(request))(request));
    return std::get<std::string>(response->body);
  }

  http::Router echo_;
  std::string checked_;  ///< the first parameter, as the wrapper inside saw it
};

TEST_F(ProjectNumbersTest, StandForTheId) {
  const std::string number = std::to_string(identities_->NumberOf("census"));
  EXPECT_EQ(Seen("/v1/projects/" + number + "/jobs/j"), "census j ");
  EXPECT_EQ(checked_, "census") << "permissions are those on the project itself";
  EXPECT_EQ(Seen("/v1/projects/" + number + "/jobs/" + number), "census " + number + " ")
      << "only of a project";
  EXPECT_EQ(Seen("/v1/roles/" + number), number + " ");
  EXPECT_EQ(Seen("/v1/roles/r?project=" + number + "&prefix=" + number), "r census " + number + " ");
  EXPECT_EQ(Get("/v1/projects/" + number).Text("/projectId"), "census");
}

TEST_F(ProjectNumbersTest, OfProjectsThatNothingNamesAreFoundOnceShown) {
  const std::string number = std::to_string(identities_->ShownNumber("idle"));
  EXPECT_EQ(Seen("/v1/projects/" + number + "/jobs/j"), "idle j ");
}

TEST_F(ProjectNumbersTest, OtherTextsAreIds) {
  const std::string number = std::to_string(identities_->NumberOf("census"));
  for (const std::string& id : {std::string("census"), std::string("123456789012"), "0" + number,
                                number + "a", "-" + number, std::string("99999999999999999999999999")})
    EXPECT_EQ(Seen("/v1/projects/" + id + "/jobs/j"), id + " j ");
}

}  // namespace
}  // namespace trainyard::api
