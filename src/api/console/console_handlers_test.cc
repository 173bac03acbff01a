#include "api/console/console_handlers.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "api/console_files.h"
#include "api/route.h"
#include "net/http/gzip.h"
#include "net/http/uri.h"

namespace trainyard::api {
namespace {

using http::Request;
using http::Response;

class ConsoleRoutesTest : public testing::Test {
 protected:
  ConsoleRoutesTest() { AddRoutes(router_, ConsoleRoutes(), kOutside, {Lend(router_)}); }

  static Request Of(const std::string& target, const std::string& accept = "text/html") {
    Request request;
    request.target = target;
    request.path = std::string(http::SplitTarget(target).path);
    request.query = http::ParseQuery(http::SplitTarget(target).query).value();
    request.headers.Set("Accept", accept);
    return request;
  }
  Result<Response> Get(Request request) {
    const Result<const http::Handler*> handler = router_.Find(request);
    if (!handler) return std::unexpected(handler.error());
    std::optional<Result<Response>> answer;
    boost::asio::io_context loop{1};
    boost::asio::co_spawn(loop, (**handler)(request), [&answer](std::exception_ptr, Result<Response> value) {
      answer = std::move(value);
    });
    loop.run();
    return *std::move(answer);
  }
  static const std::string& Text(const Response& response) { return std::get<std::string>(response.body); }
  static std::string MainScript() {
    for (const console::EmbeddedFile& file : console::Files()) {
      if (file.name.starts_with("main-") && file.name.ends_with(".js")) return std::string(file.name);
    }
    return {};
  }
  http::Router router_;
};

TEST_F(ConsoleRoutesTest, EveryAddressIsThePage) {
  for (const char* target :
       {"/ui/", "/ui/index.html", "/ui/p/demo/jobs", "/ui/buckets/b/x.html", "/ui/p/a%2Fb/jobs"}) {
    const Result<Response> page = Get(Of(target));
    ASSERT_TRUE(page) << target;
    EXPECT_NE(Text(*page).find("/ui/" + MainScript()), std::string::npos) << target;
    EXPECT_EQ(page->headers.Get("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(page->headers.Get("Cache-Control"), "no-cache");
    EXPECT_NE(page->headers.Get("Content-Security-Policy").find("script-src 'self';"), std::string::npos);
    EXPECT_EQ(page->headers.Get("Content-Security-Policy").find("unsafe"), std::string::npos);
  }
}

TEST_F(ConsoleRoutesTest, ThePageIsSentOnce) {
  const Result<Response> first = Get(Of("/ui/"));
  Request again = Of("/ui/p/demo/jobs");
  again.headers.Set("If-None-Match", std::string(first->headers.Get("ETag")));
  const Result<Response> second = Get(std::move(again));
  EXPECT_EQ(second->status, 304);
  EXPECT_EQ(second->headers.Get("ETag"), first->headers.Get("ETag"));
}

TEST_F(ConsoleRoutesTest, FilesAreCompressedForWhoTakesThat) {
  const std::string name = MainScript();
  ASSERT_FALSE(name.empty());
  const Result<Response> plain = Get(Of("/ui/" + name, "*/*"));
  Request wanting = Of("/ui/" + name, "*/*");
  wanting.headers.Set("Accept-Encoding", "gzip, br");
  const Result<Response> small = Get(std::move(wanting));
  EXPECT_EQ(plain->headers.Get("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(plain->headers.Get("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_FALSE(plain->headers.Has("Content-Encoding"));
  EXPECT_EQ(small->headers.Get("Content-Encoding"), "gzip");
  std::string unpacked(Text(*plain).size() + 1, '\0');
  http::GzipDecoder decoder;
  const auto step = decoder.Decode(Text(*small), std::as_writable_bytes(std::span(unpacked)));
  ASSERT_TRUE(step);
  unpacked.resize(step->produced);
  EXPECT_EQ(unpacked, Text(*plain));
}

TEST_F(ConsoleRoutesTest, AFileOfAnotherVersionIsNotThere) {
  for (const std::string& name :
       {std::string("main-AAAAAAAA.js"), MainScript() + ".gz", std::string("x.css")}) {
    const Result<Response> none = Get(Of("/ui/" + name));
    ASSERT_FALSE(none) << name;
    EXPECT_EQ(none.error().code, Code::kNotFound);
  }
}

TEST_F(ConsoleRoutesTest, GooglesAddressesLeadHere) {
  const auto location = [this](const char* target) {
    const Result<Response> answer = Get(Of(target));
    return answer ? std::string(answer->headers.Get("Location")) : "none";
  };
  EXPECT_EQ(location("/ui"), "/ui/");
  EXPECT_EQ(location("/mlengine/jobs/census_1?project=demo"), "/ui/p/demo/jobs/census_1");
  EXPECT_EQ(location("/logs?resource=ml_job%2Fjob_id%2Fcensus_1&project=de%2Fmo"),
            "/ui/p/de%2Fmo/jobs/census_1/logs");
  EXPECT_EQ(location("/mlengine/jobs/census_1"), "none");
  EXPECT_EQ(location("/logs?resource=other&project=demo"), "none");
}

boost::asio::awaitable<Result<Response>> NameIt(Request& request) {
  co_return Response::Text(request.Parameter("bucket") + " " + request.Parameter("object"));
}

TEST_F(ConsoleRoutesTest, HidesNoBucket) {
  router_.Add(http::Method::kGet, "/{bucket}/{object=**}", NameIt);
  EXPECT_EQ(Text(*Get(Of("/mlengine/jobs/census%201", "*/*"))), "mlengine jobs/census 1");
  EXPECT_EQ(Text(*Get(Of("/mlengine/jobs/census_1"))), "mlengine jobs/census_1")
      << "no page without a project";
  EXPECT_EQ(Get(Of("/mlengine/jobs/census_1?project=demo"))->headers.Get("Location"),
            "/ui/p/demo/jobs/census_1");
}

}  // namespace
}  // namespace trainyard::api
