#include "api/metadata/metadata_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

#include "api/route.h"
#include "base/wire/error_body.h"

namespace trainyard::api {
namespace {

namespace asio = boost::asio;
using testing::Pair;

/// A metadata server that counts how often it had to identify the caller.
class MetadataHandlers : public testing::Test {
 protected:
  MetadataHandlers() {
    AddRoutes(router_, MetadataRoutes(), kOutside,
              {Give(MetadataAnswers{.project = "p",
                                    .universe_domain = "googleapis.com",
                                    .access_token = [](const http::Request&)
                                        -> asio::awaitable<Result<std::string>> { co_return "T"; },
                                    .instance = [this](const http::Request&) { return Asked(); }})});
  }

  http::Response Get(const std::string& target) {
    http::Request request;
    request.target = target;
    const std::size_t question = std::min(target.find('?'), target.size());
    request.path = target.substr(0, question);
    if (question < target.size()) {
      const std::string rest = target.substr(question + 1);
      request.query.emplace_back(rest.substr(0, rest.find('=')), rest.substr(rest.find('=') + 1));
    }
    request.scheme = "http";
    request.host = "metadata";
    const auto handler = router_.Find(request);
    if (!handler) return http::Response::Empty(404);
    asio::io_context loop;
    http::Response response;
    asio::co_spawn(loop, (**handler)(request), [&](std::exception_ptr, Result<http::Response> answer) {
      response = answer ? *std::move(answer) : http::Response::Empty(wire::HttpStatus(answer.error().code));
    });
    loop.run();
    return response;
  }
  std::string Body(const std::string& target) { return std::get<std::string>(Get(target).body); }

  asio::awaitable<Result<std::optional<control::Instance>>> Asked() {
    ++asked_;
    if (cannot_tell_) co_return std::unexpected(*cannot_tell_);
    co_return control::Instance{
        .project = "p", .zone = "z", .name = "n", .machine_type = "m", .address = "a"};
  }

  http::Router router_;
  int asked_ = 0;
  std::optional<Error> cannot_tell_;  ///< the caller cannot be identified
};

TEST_F(MetadataHandlers, TheTypesAreExactlyGoogles) {
  const std::string account = "/computeMetadata/v1/instance/service-accounts/default/";
  EXPECT_THAT(
      Get(account + "?recursive=true").headers.fields(),
      testing::ElementsAre(Pair("Content-Type", "application/json"), Pair("Metadata-Flavor", "Google"),
                           Pair("Server", "Metadata Server for VM")))
      << "google-auth before 2.24 takes any other type for text";
  EXPECT_THAT(
      Get(account + "token").headers.fields(),
      testing::ElementsAre(Pair("Content-Type", "application/json"), Pair("Metadata-Flavor", "Google"),
                           Pair("Server", "Metadata Server for VM"), Pair("Cache-Control", "no-store")));
  EXPECT_EQ(Body(account + "token"), R"({"access_token":"T","expires_in":3600,"token_type":"Bearer"})");
  EXPECT_THAT(
      Get("/computeMetadata/v1/project/project-id").headers.fields(),
      testing::ElementsAre(Pair("Content-Type", "application/text"), Pair("Metadata-Flavor", "Google"),
                           Pair("Server", "Metadata Server for VM")));
}

TEST_F(MetadataHandlers, AllThatIsBelowAsEachLibraryAsksForIt) {
  for (const char* said : {"true", "True"}) {
    const std::string query = std::string("?recursive=") + said;
    EXPECT_EQ(Body("/computeMetadata/v1/universe/" + query), R"({"universeDomain":"googleapis.com"})")
        << said;
  }
}

TEST_F(MetadataHandlers, ADirectoryIsAskedForWithASlash) {
  const http::Response moved = Get("/computeMetadata/v1/instance?recursive=true");
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(moved.headers.Get("Location"), "http://metadata/computeMetadata/v1/instance/?recursive=true");
  EXPECT_EQ(Body("/computeMetadata/v1/"), "instance/\nproject/\nuniverse/\n");
  EXPECT_EQ(Body("/computeMetadata/"), "v1/\n");
  EXPECT_EQ(Body("/"), "computeMetadata/\n");
}

TEST_F(MetadataHandlers, WhatIsNotThereIs404AndAnUnknownFormIs400) {
  EXPECT_EQ(Get("/computeMetadata/v1/instance/attributes/none").status, 404);
  EXPECT_EQ(Get("/computeMetadata/v1/instance/service-accounts/other/token").status, 404);
  EXPECT_EQ(Get("/computeMetadata/v1/instance/service-accounts/default/identity").status, 404);
  EXPECT_EQ(Get("/computeMetadata/v1/instance/name?alt=xml").status, 400);
}

TEST_F(MetadataHandlers, WhoAsksIsFoundOutOnlyWhereItMatters) {
  for (const char* path : {"universe/universe-domain", "instance/maintenance-event", "instance/preempted",
                           "instance/service-accounts/default/email"}) {
    EXPECT_EQ(Get(std::string("/computeMetadata/v1/") + path).status, 200) << path;
  }
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(Body("/computeMetadata/v1/instance/name"), "n");
  EXPECT_EQ(asked_, 1);
}

TEST_F(MetadataHandlers, WhoCannotBeToldNowIsNotNobody) {
  cannot_tell_ = Unavailable("ask again");
  EXPECT_EQ(Get("/computeMetadata/v1/instance/name").status, 503);
  EXPECT_EQ(Get("/computeMetadata/v1/instance/preempted").status, 200);
}

}  // namespace
}  // namespace trainyard::api
