#include "api/discovery_handlers.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <string>

namespace trainyard::api {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

Result<std::string> Get(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
                        const std::string& host = "127.0.0.1:8470", const std::string& scheme = "http") {
  http::Router router;
  AddRoutes(router, SharedRoutes(), kOutside, {});
  http::Request request;
  request.path = path;
  request.target = path;
  request.scheme = scheme;
  request.host = host;
  request.query = std::move(query);
  TY_TRY(const http::Handler* handler, router.Find(request));
  asio::io_context loop;
  Result<http::Response> response = std::unexpected(Internal("no answer"));
  asio::co_spawn(loop, (*handler)(request),
                 [&](std::exception_ptr, Result<http::Response> r) { response = std::move(r); });
  loop.run();
  if (!response) return std::unexpected(response.error());
  return std::get<std::string>(response->body);
}

json::object Document(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
                      const std::string& host = "127.0.0.1:8470", const std::string& scheme = "http") {
  const auto text = Get(path, std::move(query), host, scheme);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text ? json::parse(*text).as_object() : json::object();
}

TEST(Discovery, MlIsTheDefaultAndPointsBackHere) {
  const auto ml = Document("/$discovery/rest", {{"version", "v1"}});
  EXPECT_EQ(ml.at("id"), "ml:v1");
  EXPECT_EQ(ml.at("rootUrl"), "http://127.0.0.1:8470/");
  EXPECT_EQ(ml.at("baseUrl"), "http://127.0.0.1:8470/");
  EXPECT_EQ(ml.at("mtlsRootUrl"), "http://127.0.0.1:8470/");
  EXPECT_EQ(ml.at("servicePath"), "");
  EXPECT_TRUE(ml.at("auth")
                  .at_pointer("/oauth2/scopes")
                  .as_object()
                  .contains("https://www.googleapis.com/auth/cloud-platform"));
}

TEST(Discovery, HostNamesTheApi) {
  EXPECT_EQ(Document("/$discovery/rest", {{"version", "v1"}}, "tpu.googleapis.com", "https").at("rootUrl"),
            "https://tpu.googleapis.com/");
  EXPECT_EQ(
      Document("/$discovery/rest", {{"version", "v1"}}, "storage.localhost:8443", "https").at("baseUrl"),
      "https://storage.localhost:8443/storage/v1/");
  EXPECT_EQ(Document("/$discovery/rest", {{"version", "v2"}}, "logging.localhost").at("id"), "logging:v2");
}

TEST(Discovery, OlderTemplate) {
  EXPECT_EQ(Document("/discovery/v1/apis/ml/v1/rest", {}).at("id"), "ml:v1");
  EXPECT_EQ(Document("/discovery/v1/apis/logging/v2/rest", {}).at("rootUrl"), "http://127.0.0.1:8470/");
  EXPECT_EQ(Get("/discovery/v1/apis/compute/v1/rest", {}).error().code, Code::kNotFound);
  EXPECT_EQ(Get("/$discovery/rest", {{"version", "v7"}}).error().code, Code::kNotFound);
}

TEST(Discovery, NoServiceAddressIsLeft) {
  for (const char* path : {"/discovery/v1/apis/ml/v1/rest", "/discovery/v1/apis/storage/v1/rest",
                           "/discovery/v1/apis/logging/v2/rest"}) {
    const auto text = Get(path, {});
    ASSERT_TRUE(text.has_value());
    for (const char* service : {"\"https://ml.", "\"https://storage.", "\"https://logging."}) {
      EXPECT_EQ(text->find(service), std::string::npos) << path << service;
    }
  }
}

TEST(Discovery, Directory) {
  EXPECT_EQ(Document("/discovery/v1/apis", {}).at("items").as_array().size(), 4);
  const auto only = Document("/discovery/v1/apis", {{"name", "storage"}}).at("items").as_array();
  ASSERT_EQ(only.size(), 1);
  EXPECT_EQ(only[0].at("discoveryRestUrl"), "http://127.0.0.1:8470/discovery/v1/apis/storage/v1/rest");
}

TEST(Discovery, RefusesAHostThatIsNone) {
  EXPECT_EQ(Get("/$discovery/rest", {}, "a\"b").error().code, Code::kInvalidArgument);
  EXPECT_EQ(Get("/$discovery/rest", {}, "").error().code, Code::kInvalidArgument);
}

TEST(RewriteAddresses, OnlyAtTheStartOfAString) {
  EXPECT_EQ(
      RewriteAddresses(
          R"({"a":"https://ml.googleapis.com/v1","b":"see https://ml.googleapis.com/","c":"https://x.org/"})",
          "O"),
      R"({"a":"O/v1","b":"see https://ml.googleapis.com/","c":"https://x.org/"})");
  EXPECT_EQ(RewriteAddresses("\"https://", "O"), "\"https://");
  EXPECT_EQ(RewriteAddresses("\"https://ml.googleapis.com", "O"), "\"https://ml.googleapis.com");
}

}  // namespace
}  // namespace trainyard::api
