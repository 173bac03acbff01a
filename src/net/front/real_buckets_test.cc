#include "net/front/real_buckets.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <thread>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "net/front/host_dispatch.h"
#include "net/http/server.h"
#include "net/http/testing/listen.h"

namespace trainyard::front {
namespace {

namespace fs = std::filesystem;
using http::Method;
using http::Request;
using http::Response;

http::asio::awaitable<Result<Response>> Echo(Request& request) {
  TY_CO_TRY(std::string body, co_await request.body->ReadAll(std::size_t{64} << 20));
  Response response =
      Response::Text(std::string(request.headers.Get("Authorization")) + " " + request.target + " " + body);
  response.headers.Add("X-Goog-Generation", "7");
  if (request.target.ends_with("missing")) response.status = 404;
  co_return response;
}

http::asio::awaitable<Result<Response>> Ours(Request& /*request*/) { co_return Response::Text("ours"); }

/// A fake of the real Cloud Storage with TLS, and a front that forwards to it, both on one loop.
class RealBucketsTest : public testing::Test {
 protected:
  RealBucketsTest() {
    std::string name = fs::temp_directory_path() / "trainyard-front-XXXXXX";
    folder_ = mkdtemp(name.data());
    EXPECT_TRUE(WriteFileAtomically(folder_ / "token", "ya29.operators\n"));
    const auto identity = tls::EnsureTlsIdentity(folder_ / "tls", {}, SystemClock().Now());
    EXPECT_TRUE(identity);
    for (const Method method : {Method::kGet, Method::kPost, Method::kPut}) {
      upstream_router_.Add(method, "/{rest=**}", Echo);
      ours_.Add(method, "/{rest=**}", Ours);
    }
    http::Endpoint upstream;
    upstream.transport = http::Endpoint::Transport::kTls;
    upstream.host = "localhost";
    upstream.port = *http::ListenWithTls(upstream_, "127.0.0.1", *identity);
    upstream.ca_file = identity->ca_file;
    real_.emplace(RealBuckets::Options{
        .names = {"theirs"}, .upstream = upstream, .token_file = folder_ / "token", .spool_dir = folder_});
    router_ = DispatchByHost({.storage = ours_, .api = ours_, .metadata = ours_, .real_buckets = &*real_});
    front_.emplace(loop_, router_);
    EXPECT_TRUE(front_->ListenUnix(folder_ / "front.sock", http::FramingRules::kChunkedWins));
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RealBucketsTest() override {
    boost::asio::post(loop_, [this] {
      front_->Stop();
      upstream_.Stop();
    });
    thread_.join();
    fs::remove_all(folder_);
  }
  Result<http::ClientResponse> Send(Method method, std::string target, std::string body = {}) {
    http::Endpoint endpoint;
    endpoint.transport = http::Endpoint::Transport::kUnix;
    endpoint.socket_path = folder_ / "front.sock";
    endpoint.host = "storage.googleapis.com";
    http::ClientRequest request{.method = method, .target = std::move(target), .body = std::move(body)};
    request.headers.Set("Authorization", "Bearer ya29.trainyard.replicas");
    return http::Client(endpoint).Send(std::move(request));
  }

  fs::path folder_;
  boost::asio::io_context loop_{1};
  http::Router upstream_router_;
  http::Router ours_;
  http::Server upstream_{loop_, upstream_router_};
  std::optional<RealBuckets> real_;
  http::Router router_;
  std::optional<http::Server> front_;
  std::thread thread_;
};

TEST_F(RealBucketsTest, PassesOnWhatIsTheirsWithTheOperatorsToken) {
  const auto read = Send(Method::kGet, "/theirs/a%2Fb");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->body, "Bearer ya29.operators /theirs/a%2Fb ");
  EXPECT_EQ(read->headers.Get("X-Goog-Generation"), "7");
  const std::string large(3'000'000, 'x');
  const auto written = Send(Method::kPost, "/upload/storage/v1/b/theirs/o?uploadType=media&name=n", large);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->body,
            "Bearer ya29.operators /upload/storage/v1/b/theirs/o?uploadType=media&name=n " + large);
}

TEST_F(RealBucketsTest, KeepsWhatIsOurs) {
  EXPECT_EQ(Send(Method::kGet, "/mine/a")->body, "ours");
  EXPECT_EQ(Send(Method::kPut, "/upload/storage/v1/b/mine/o", "x")->body, "ours");
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b")->body, "ours");
}

TEST_F(RealBucketsTest, RefusesWhatReachesFurther) {
  const auto refused = Send(Method::kPost, "/storage/v1/b/theirs/o/a/rewriteTo/b/other/o/b", "{}");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 403);
  EXPECT_NE(refused->body.find("gs://other is not a bucket of the real Cloud Storage"), std::string::npos)
      << refused->body;
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/theirs/..%2Fother/o")->status, 400);
  EXPECT_EQ(Send(Method::kPost, "/storage/v1/b/theirs/o/a/copyTo/b/theirs/o/b", "{}")->status, 200);
}

TEST_F(RealBucketsTest, ConfinesWhatABrowserSees) {
  const auto read = Send(Method::kGet, "/theirs/page.html");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->headers.Get("Content-Security-Policy"), "sandbox");
  EXPECT_EQ(read->headers.Get("X-Content-Type-Options"), "nosniff");
}

TEST_F(RealBucketsTest, PassesRefusalsOnAndSaysWhenNobodyAnswers) {
  const auto refused = Send(Method::kGet, "/theirs/missing");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 404);
  EXPECT_EQ(refused->body, "Bearer ya29.operators /theirs/missing ");
  fs::remove(folder_ / "token");
  EXPECT_EQ(Send(Method::kGet, "/theirs/a")->status, 404);
  EXPECT_TRUE(WriteFileAtomically(folder_ / "token", "t"));
  boost::asio::post(loop_, [this] { upstream_.Stop(); });
  const auto gone = Send(Method::kGet, "/theirs/a");
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->status, 503);
  EXPECT_NE(gone->body.find("the real Cloud Storage: "), std::string::npos) << gone->body;
}

TEST(BucketOfPath, ReadsBothApis) {
  struct Row {
    const char* path;
    bool with_xml;
    std::optional<std::string> bucket;
  };
  const Row rows[] = {{"/storage/v1/b/models", false, "models"},
                      {"/storage/v1/b/models/o/a%2Fb", false, "models"},
                      {"/upload/storage/v1/b/models/o", false, "models"},
                      {"/resumable/upload/storage/v1/b/models/o", true, "models"},
                      {"/download/storage/v1/b/mod%65ls/o/a", false, "models"},
                      {"/models/a/b", true, "models"},
                      {"/models/a/b", false, std::nullopt},
                      {"/models", true, "models"},
                      {"/storage/v1/b", false, std::nullopt},
                      {"/storage/v1/b/", true, std::nullopt},
                      {"/", true, std::nullopt},
                      {"", true, std::nullopt},
                      {"/%zz/a", true, std::nullopt},
                      {"/storage/v1/b", true, std::nullopt},
                      {"/batch/storage/v1", true, std::nullopt},
                      {"/%62atch", true, std::nullopt},
                      {"/upload/storage/v1/b", true, std::nullopt},
                      {"/storage/v1/b/batch/o", true, "batch"},
                      {"/storage/v1/b/models%2F..%2Fother/o", false, "models/../other"}};
  for (const Row& row : rows) EXPECT_EQ(BucketOfPath(row.path, row.with_xml), row.bucket) << row.path;
}

struct Row {
  const char* name;
  const char* path;
  const char* source;  ///< x-goog-copy-source; "" for none
  std::optional<Code> refused;
};
class Reach : public testing::TestWithParam<Row> {};
TEST_P(Reach, StaysInTheNamedBuckets) {
  http::Request request;
  request.path = GetParam().path;
  if (*GetParam().source != 0) request.headers.Add("X-Goog-Copy-Source", GetParam().source);
  const Status checked = CheckReach(request, {"theirs", "also"});
  EXPECT_EQ(checked.has_value(), !GetParam().refused) << (checked ? "" : checked.error().message);
  if (!checked && GetParam().refused) EXPECT_EQ(checked.error().code, *GetParam().refused);
}
constexpr Code kDenied = Code::kPermissionDenied;
constexpr Code kMalformed = Code::kInvalidArgument;
INSTANTIATE_TEST_SUITE_P(
    Rows, Reach,
    testing::Values(Row{"read", "/storage/v1/b/theirs/o/a%2Fb", "", {}}, Row{"xml", "/theirs/a/b", "", {}},
                    Row{"percent_in_a_name", "/storage/v1/b/theirs/o/100%25zz", "", {}},
                    Row{"dots_in_a_name", "/storage/v1/b/theirs/o/a..b%2F...", "", {}},
                    Row{"rewrite", "/storage/v1/b/theirs/o/a/rewriteTo/b/also/o/b", "", {}},
                    Row{"rewrite_elsewhere", "/storage/v1/b/theirs/o/a/rewriteTo/b/other/o/b", "", kDenied},
                    Row{"copy_elsewhere", "/storage/v1/b/theirs/o/a/copyTo/b/other/o/b", "", kDenied},
                    Row{"case", "/storage/v1/b/theirs/o/a/REWRITETO/b/other/o/b", "", kDenied},
                    Row{"encoded_verb", "/storage/v1/b/theirs/o/a/rewrite%54o/b/other/o/b", "", kDenied},
                    Row{"encoded_bucket", "/storage/v1/b/theirs/o/a/rewriteTo/b/%6fther/o/b", "", kDenied},
                    Row{"two_destinations", "/storage/v1/b/theirs/o/a/rewriteTo/b/also/rewriteTo/b/other/o/b",
                        "", kDenied},
                    Row{"slashes_in_the_name", "/storage/v1/b/theirs/o/a/b/rewriteTo/b/other/o/b", "",
                        kDenied},
                    Row{"name_of_the_verb_in_xml", "/theirs/rewriteTo/b/c", "", {}},
                    Row{"up", "/storage/v1/b/theirs/../other/o/a", "", kMalformed},
                    Row{"up_encoded", "/storage/v1/b/theirs/%2e%2E/other/o/a", "", kMalformed},
                    Row{"up_in_the_name", "/storage/v1/b/theirs/o/a%2F..%2F..%2Fother", "", kMalformed},
                    Row{"up_twice_encoded", "/storage/v1/b/theirs/o/%252e%252e%252Fother", "", kMalformed},
                    Row{"up_backslash", "/storage/v1/b/theirs/o/a%5C..%5Cb", "", kMalformed},
                    Row{"up_xml", "/theirs/../other/a", "", kMalformed},
                    Row{"encoded_for_ever", "/theirs/%2525252525252e", "", kMalformed},
                    Row{"malformed", "/theirs/%zz", "", kMalformed},
                    Row{"source", "/theirs/b", "/also/a", {}},
                    Row{"source_bare", "/theirs/b", "also/a?generation=1", {}},
                    Row{"source_elsewhere", "/theirs/b", "/other/a", kDenied},
                    Row{"source_encoded", "/theirs/b", "%2Fother%2Fa", kDenied},
                    Row{"source_up", "/theirs/b", "/theirs/../other/a", kMalformed},
                    Row{"source_up_encoded", "/theirs/b", "/theirs%2F%2e%2e%2Fother/a", kMalformed}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::front
