#include "api/messages.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/ml/v1/study.pb.h"

namespace trainyard::api {
namespace {

control::v1::JobRows RowsOf(int count) {
  control::v1::JobRows rows;
  for (int i = 0; i < count; ++i) rows.add_jobs()->set_job_id("job_" + std::to_string(i));
  return rows;
}

http::Response Ask(int rows, std::vector<std::pair<std::string, std::string>> query = {}) {
  http::Request request;
  request.headers.Set("Accept-Encoding", "gzip");
  for (auto& one : query) request.query.push_back(std::move(one));
  boost::asio::io_context loop;
  boost::asio::thread_pool pool(1);
  auto answer = boost::asio::co_spawn(loop, Printed(pool, request, RowsOf(rows)), boost::asio::use_future);
  loop.run();
  return answer.get();
}

TEST(PrintedTest, LongAnswersAreCompressed) {
  EXPECT_FALSE(Ask(1).headers.Has("Content-Encoding"));
  const http::Response large = Ask(20'000);
  EXPECT_EQ(large.headers.Get("Content-Encoding"), "gzip");
  EXPECT_LT(std::get<std::string>(large.body).size(), std::size_t{200} << 10);
}

TEST(PrintedTest, WhatAParameterShapesIsNotCompressedYet) {
  for (const char* name : {"fields", "$fields", "prettyPrint", "$prettyPrint"}) {
    const http::Response shaped = Ask(20'000, {{name, "jobs"}});
    EXPECT_FALSE(shaped.headers.Has("Content-Encoding")) << name;
    EXPECT_TRUE(std::get<std::string>(shaped.body).starts_with("{")) << name;
  }
}

TEST(WithoutPathFieldsTest, AreThoseThatTheMessageLacks) {
  const auto rest = [](std::string text) {
    return WithoutPathFields(std::move(text), *ml::v1::CancelJobRequest::descriptor());
  };
  EXPECT_EQ(rest(R"({"name": "projects/p/jobs/j"})"), "{}");
  EXPECT_EQ(rest(R"({"name": "n", "other": 1})"), R"({"other":1})");
  for (const char* text : {"", "{", "[]", R"({"other": 1})", R"({"name": 7})"}) EXPECT_EQ(rest(text), text);
  const std::string named = R"({"name": "n"})";
  EXPECT_EQ(WithoutPathFields(named, *ml::v1::Study::descriptor()), named) << "a field of its own";
}

}  // namespace
}  // namespace trainyard::api
