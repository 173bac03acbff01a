#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <string>

#include "api/ml/ml_handlers.h"

namespace trainyard::api {
namespace {

namespace asio = boost::asio;

Result<std::string> Get(const std::string& path) {
  http::Router router;
  AddRoutes(router, MlRoutes(), Where::kAdministration, {});
  http::Request request;
  request.target = request.path = path;
  TY_TRY(const http::Handler* handler, router.Find(request));
  asio::io_context loop;
  Result<http::Response> response = std::unexpected(Internal("no answer"));
  asio::co_spawn(loop, (*handler)(request),
                 [&](std::exception_ptr, Result<http::Response> answer) { response = std::move(answer); });
  loop.run();
  if (!response) return std::unexpected(response.error());
  return std::get<std::string>(response->body);
}

const std::string kProject = "/compute/v1/projects/p/";

TEST(Compute, RegionsAndZonesOfTheTableExist) {
  EXPECT_EQ(boost::json::parse(Get(kProject + "regions/us-west1").value()), boost::json::parse(R"json({
      "kind": "compute#region", "name": "us-west1", "status": "UP",
      "selfLink": "https://www.googleapis.com/compute/v1/projects/p/regions/us-west1"})json"));
  EXPECT_EQ(boost::json::parse(Get(kProject + "zones/us-west1-b").value()).at("kind"), "compute#zone");
}

TEST(Compute, OthersAreNotFound) {
  for (const char* path :
       {"regions/us-wst1", "regions/us-west1-b", "zones/us-west1", "zones/us-wst1-b", "zones/us-west1-bb"})
    EXPECT_EQ(Get(kProject + path).error().code, Code::kNotFound) << path;
}

}  // namespace
}  // namespace trainyard::api
