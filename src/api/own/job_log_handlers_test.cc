#include "api/own/own_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>

#include "base/async/system_clock.h"
#include "stores/logs/log_lines.h"
#include "stores/logs/log_store.h"
#include "stores/logs/sample_chunk.h"

namespace trainyard::api {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

asio::awaitable<Result<std::int64_t>> UidOfCensus(wire::JobName name) {
  if (name.job_id == "census_1") co_return 1;
  if (name.job_id == "silent") co_return 2;
  co_return std::unexpected(NotFound("Field: name Error: The specified job does not exist."));
}

class JobLogHandlers : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "job_log_handlers_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = logs::LogStore::Open(loop_, clock_, folder_ + "/logs.db").value();
    lines_ = logs::LogLines::Open(folder_ + "/logs.db").value();
    AddRoutes(router_, OwnRoutes(), kOutside, {Give(std::make_shared<JobLogs>(UidOfCensus, *lines_))});
    const logs::LogSource source{.job_uid = 1,
                                 .project = "p",
                                 .job_id = "census_1",
                                 .source = "1-master-replica-0-1",
                                 .task_name = "master-replica-0"};
    Run(store_->Append(source, logs::SampleChunk({.texts = logs::NumberedTexts("line ", 30),
                                                  .first_stamp = 1'700'000'000'000'000'001})));
  }
  void TearDown() override {
    router_ = http::Router();
    lines_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <class T>
  Result<T> Run(asio::awaitable<Result<T>> work) {
    Result<T> result = std::unexpected(Internal("no answer"));
    asio::co_spawn(loop_, std::move(work), [&result](std::exception_ptr exception, Result<T> got) {
      EXPECT_FALSE(exception);
      result = std::move(got);
    });
    loop_.restart();
    loop_.run();
    return result;
  }

  Result<http::Response> Get(const std::string& job, const std::string& verb,
                             std::vector<std::pair<std::string, std::string>> query = {}) {
    http::Request request;
    request.path = "/trainyard/v1/projects/p-1/jobs/" + job + "/log:" + verb;
    request.target = request.path;
    request.query = std::move(query);
    TY_TRY(const http::Handler* handler, router_.Find(request));
    return Run((*handler)(request));
  }
  json::value GetJson(const std::string& job, const std::string& verb,
                      std::vector<std::pair<std::string, std::string>> query = {}) {
    const Result<http::Response> response = Get(job, verb, std::move(query));
    EXPECT_TRUE(response) << response.error().message;
    return response ? json::parse(std::get<std::string>(response->body)) : json::value();
  }

  std::string folder_;
  asio::io_context loop_;
  SystemClock clock_;
  http::Router router_;
  std::unique_ptr<logs::LogStore> store_;
  std::unique_ptr<logs::LogLines> lines_;
};

TEST_F(JobLogHandlers, ReadAWindow) {
  EXPECT_EQ(
      json::serialize(GetJson("census_1", "read", {{"first", "28"}})),
      R"({"total":"30","lines":[{"number":"28","time":"2023-11-14T22:13:20.000000057Z","severity":"INFO",)"
      R"("replica":"master-replica-0","text":"line 28"},{"number":"29","time":)"
      R"("2023-11-14T22:13:20.000000059Z","severity":"INFO","replica":"master-replica-0",)"
      R"("text":"line 29"}],"next":"-1","previous":"28"})");
  EXPECT_EQ(json::serialize(GetJson("silent", "read")), R"({"next":"-1","previous":"-1"})");
  EXPECT_EQ(Get("absent", "read").error().code, Code::kNotFound);
  EXPECT_EQ(Get("census_1", "read", {{"first", "x"}}).error().field, "first");
}

TEST_F(JobLogHandlers, SearchAndSummarize) {
  const json::value found = GetJson("census_1", "search", {{"query", "LINE 2"}, {"count", "2"}});
  EXPECT_EQ(found.at("lines").as_array().size(), 2U);
  EXPECT_EQ(found.at("searchedTo"), "21");
  EXPECT_EQ(GetJson("silent", "search", {{"query", "x"}}).at("complete"), true);
  EXPECT_EQ(Get("census_1", "search").error(), InvalidArgument("query", "Must not be empty"));
  EXPECT_EQ(Get("census_1", "search", {{"query", "("}, {"regex", "true"}}).error(),
            InvalidArgument("query", "missing ): ("));
  const json::value summary = GetJson("census_1", "summarize", {{"buckets", "3"}});
  EXPECT_EQ(summary.at("buckets").as_array().size(), 3U);
  EXPECT_EQ(summary.at("firstError"), "-1");
}

TEST_F(JobLogHandlers, DownloadIsAFile) {
  const http::Response response = Get("census_1", "download").value();
  EXPECT_EQ(response.headers.Get("Content-Disposition"), "attachment; filename=\"census_1.log\"");
  const auto& stream = std::get<http::StreamBody>(response.body);
  const std::string text = Run(stream.next())->Joined();
  EXPECT_EQ(std::ranges::count(text, '\n'), 30);
  EXPECT_TRUE(text.starts_with("2023-11-14T22:13:20.000000001Z INFO master-replica-0 line 0\n"));
  EXPECT_EQ(Run(stream.next())->size(), 0U);
  const http::Response empty = Get("silent", "download", {{"format", "json"}}).value();
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(Run(std::get<http::StreamBody>(empty.body).next())->size(), 0U);
}

}  // namespace
}  // namespace trainyard::api
