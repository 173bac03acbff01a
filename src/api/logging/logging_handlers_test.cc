#include "api/logging/logging_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/wire/error_body.h"
#include "net/access/caller.h"
#include "stores/audit/audit_log.h"
#include "stores/logs/log_store.h"
#include "stores/logs/sample_chunk.h"

namespace trainyard::api::logging_handlers_test {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using logs::SampleChunk;
using testing::ElementsAre;

class FixedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::seconds(1'700'000'100)); }
};

class TextBody final : public http::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size() - offset_);
    std::memcpy(buffer.data(), text_.data() + offset_, size);
    offset_ += size;
    co_return size;
  }

 private:
  std::string text_;
  std::size_t offset_ = 0;
};

constexpr std::uint64_t kStart = 1'700'000'000'000'000'001;

logs::LogSource Source(const std::string& task_name) {
  return {.job_uid = 1,
          .project = "p",
          .job_id = "census_1",
          .source = task_name == "service" ? "service" : "1-" + task_name + "-1",
          .task_name = task_name,
          .trial_id = "",
          .host_name = ""};
}

/// The number of a job that was created by ml v1, in Vertex AI.
asio::awaitable<Result<std::string>> CensusIs12(std::string project, std::int64_t number) {
  if (project == "p" && number == 9'000'000'000'000'000'012) co_return "census_1";
  co_return std::unexpected(NotFound("none"));
}

class LoggingHandlers : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "logging_handlers_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = logs::LogStore::Open(loop_, clock_, folder_ + "/logs.db").value();
    tails_ = logs::LogTails::Open(loop_.get_executor(), *store_, folder_ + "/logs.db").value();
    audit_ = audit::AuditSearch::Open(folder_ + "/audit").value();
    AddRoutes(router_, LoggingRoutes(), kOutside,
              {Give(std::make_shared<EntryLists>(*store_, audit_.get(), CensusIs12)),
               Give(TailSource{.tails = *tails_})});
  }
  void TearDown() override {
    tails_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Append(const std::string& task_name, const logs::SampleLines& lines) {
    asio::co_spawn(loop_, store_->Append(Source(task_name), SampleChunk(lines)),
                   [](std::exception_ptr, Result<logs::StoredLines> next) {
                     EXPECT_TRUE(next) << next.error().message;
                   });
    loop_.restart();
    loop_.run();
  }

  Result<std::string> Post(const std::string& text) {
    TextBody body(text);
    http::Request request;
    request.method = http::Method::kPost;
    request.path = "/v2/entries:list";
    request.target = request.path + "?alt=json";
    request.query = {{"alt", "json"}};
    request.body = &body;
    request.caller = caller_;
    TY_TRY(const http::Handler* handler, router_.Find(request));
    Result<http::Response> response = std::unexpected(Internal("no answer"));
    asio::co_spawn(loop_, (*handler)(request),
                   [&response](std::exception_ptr exception, Result<http::Response> r) {
                     EXPECT_FALSE(exception);
                     response = std::move(r);
                   });
    loop_.restart();
    loop_.run();
    if (!response) return std::unexpected(response.error());
    EXPECT_EQ(response->status, 200);
    return std::get<std::string>(response->body);
  }

  std::string folder_;
  asio::io_context loop_;
  FixedClock clock_;
  http::Router router_;
  std::unique_ptr<logs::LogStore> store_;
  std::unique_ptr<logs::LogTails> tails_;
  std::unique_ptr<audit::AuditSearch> audit_;
  std::shared_ptr<const access::Caller> caller_;  ///< null: without authentication
};

/// Behaves like gcloud's log streamer (command_lib/logs/stream.py, api_lib/logging/common.py): every
/// comparison is one of text.
class GcloudStreamer {
 public:
  explicit GcloudStreamer(std::string task_name = {}) : task_name_(std::move(task_name)) {}

  [[nodiscard]] json::object Request(int page_size, const std::string& page_token) const {
    std::string filter =
        "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"census_1\"";
    if (!task_name_.empty()) {
      filter += " AND (resource.labels.task_name=\"" + task_name_ + "\" OR labels.task_name=\"" + task_name_ +
                "\")";
    }
    filter += " AND " + LowerBound() + " AND timestamp<\"2026-11-20T18:02:37.096867Z\"";
    json::object request{{"filter", filter},
                         {"orderBy", "timestamp asc"},
                         {"pageSize", page_size},
                         {"resourceNames", json::array{"projects/p"}}};
    if (!page_token.empty()) request["pageToken"] = page_token;
    return request;
  }

  /// True if gcloud would print the entry.
  bool Accept(const json::object& entry) {
    const std::string timestamp(entry.at("timestamp").as_string());
    const std::string insert_id(entry.at("insertId").as_string());
    if (timestamp < timestamp_) return false;
    if (timestamp == timestamp_) {
      if (insert_id <= insert_id_) return false;
      insert_id_ = insert_id;
      need_insert_id_ = true;
      return true;
    }
    need_insert_id_ = false;
    insert_id_ = insert_id;
    timestamp_ = timestamp;
    return true;
  }

 private:
  [[nodiscard]] std::string LowerBound() const {
    if (!need_insert_id_) return "timestamp>=\"" + timestamp_ + "\"";
    return "((timestamp=\"" + timestamp_ + "\" AND insertId>\"" + insert_id_ + "\") OR timestamp>\"" +
           timestamp_ + "\")";
  }
  std::string task_name_;
  std::string timestamp_ = "1970-01-01T01:00:00.000000000Z";
  std::string insert_id_;
  bool need_insert_id_ = false;
};

class GcloudStream : public LoggingHandlers {
 protected:
  /// One poll: pages until gcloud's limit of 1000 entries, requesting each time what is left of it.
  std::vector<std::string> Poll(GcloudStreamer& streamer) {
    std::vector<std::string> printed;
    std::string token;
    int left = 1000;
    do {
      const Result<std::string> answer = Post(json::serialize(streamer.Request(left, token)));
      EXPECT_TRUE(answer) << answer.error().message;
      if (!answer) break;
      const json::object page = json::parse(*answer).as_object();
      if (const json::value* entries = page.if_contains("entries")) {
        for (const json::value& entry : entries->as_array()) {
          --left;
          if (!streamer.Accept(entry.as_object())) continue;
          printed.emplace_back(entry.at("jsonPayload").at("message").as_string());
        }
      }
      const json::value* next = page.if_contains("nextPageToken");
      token = next != nullptr ? std::string(next->as_string()) : "";
    } while (!token.empty() && left > 0);
    return printed;
  }
};

TEST_F(GcloudStream, PrintsEveryLineOnceInOrderOfArrival) {
  GcloudStreamer streamer;
  EXPECT_THAT(Poll(streamer), ElementsAre());
  Append("service", {.texts = {"Validating job requirements..."}, .first_stamp = kStart});
  EXPECT_THAT(Poll(streamer), ElementsAre("Validating job requirements..."));
  EXPECT_THAT(Poll(streamer), ElementsAre());
  // Stamps that would end in zeros, clocks that are behind, and repeated lines.
  Append("master-replica-0",
         {.texts = {"a", "b"}, .first_stamp = 1'700'000'000'500'000'001, .step = 500'000'000});
  Append("worker-replica-0", {.texts = {"late"}, .first_stamp = kStart});
  Append("master-replica-0",
         {.texts = {"a", "b", "c"}, .first_stamp = 1'700'000'000'500'000'001, .step = 500'000'000});
  EXPECT_THAT(Poll(streamer), ElementsAre("a", "b", "late", "c"));
  EXPECT_THAT(Poll(streamer), ElementsAre());
}

TEST_F(GcloudStream, ALongLogComesInPolls) {
  Append("master-replica-0", {.texts = logs::NumberedTexts("t", 2500), .first_stamp = kStart});
  GcloudStreamer streamer;
  std::vector<std::string> printed;
  for (int poll = 0; poll < 4; ++poll) {
    for (std::string& text : Poll(streamer)) printed.push_back(std::move(text));
  }
  EXPECT_EQ(printed, logs::NumberedTexts("t", 2500));
}

TEST_F(GcloudStream, OneTaskOnly) {
  Append("master-replica-0", {.texts = {"m"}, .first_stamp = kStart});
  Append("worker-replica-0", {.texts = {"w"}, .first_stamp = kStart});
  GcloudStreamer worker("worker-replica-0");
  EXPECT_THAT(Poll(worker), ElementsAre("w"));
}

TEST_F(LoggingHandlers, AnswersAsTheOriginal) {
  Append("master-replica-0", {.texts = {"hello"}, .first_stamp = 1'700'000'000'000'000'001});
  EXPECT_EQ(json::parse(Post(json::serialize(GcloudStreamer().Request(1000, ""))).value()), json::parse(R"({
    "entries": [{
      "insertId": "0000000000000000",
      "jsonPayload": {"created": 1700000000, "levelname": "INFO", "message": "hello"},
      "labels": {
        "ml.googleapis.com/job_id": "census_1",
        "ml.googleapis.com/job_id/log_area": "root",
        "ml.googleapis.com/task_name": "master-replica-0",
        "ml.googleapis.com/trial_id": ""
      },
      "logName": "projects/p/logs/master-replica-0",
      "receiveTimestamp": "2023-11-14T22:15:00Z",
      "resource": {
        "labels": {"job_id": "census_1", "project_id": "p", "task_name": "master-replica-0"},
        "type": "ml_job"
      },
      "severity": "INFO",
      "timestamp": "2023-11-14T22:13:20.000000001Z"
    }]
  })"));
}

TEST_F(LoggingHandlers, NothingIsAnEmptyObject) {
  EXPECT_EQ(json::parse(Post(R"({"resourceNames": ["projects/p"]})").value()), json::object());
}

struct Refused {
  const char* name;
  const char* body;
  const char* field;  ///< "": the JSON mapping's own message, with violations
};

class LoggingHandlersRefuse : public LoggingHandlers, public testing::WithParamInterface<Refused> {};

TEST_P(LoggingHandlersRefuse, WithAGoogleStatus) {
  const Result<std::string> answer = Post(GetParam().body);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
  EXPECT_EQ(answer.error().field, GetParam().field);
  const json::value body = json::parse(wire::PrintErrorBody(answer.error()));
  EXPECT_EQ(body.at("error").at("code"), 400);
  EXPECT_EQ(body.at("error").at("status"), "INVALID_ARGUMENT");
  EXPECT_FALSE(body.at("error").at("message").as_string().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, LoggingHandlersRefuse,
    testing::Values(
        Refused{"cut", R"({"resourceNames": ["proj)", ""},
        Refused{"unknown_field", R"({"resourceNames": ["projects/p"], "bogus": 1})", ""},
        Refused{"wrong_type", R"({"resourceNames": ["projects/p"], "pageSize": "many"})", ""},
        Refused{"empty", "", "resource_names"},
        Refused{"other_parent", R"({"resourceNames": ["organizations/1"]})", "resource_names"},
        Refused{"filter", R"({"resourceNames": ["projects/p"], "filter": "timestamp>="})", "filter"},
        Refused{"order", R"({"resourceNames": ["projects/p"], "orderBy": "severity"})", "order_by"},
        Refused{"token", R"({"resourceNames": ["projects/p"], "pageToken": "abc"})", "page_token"},
        Refused{"page_size", R"({"resourceNames": ["projects/p"], "pageSize": -1})", "page_size"}),
    [](const auto& row) { return row.param.name; });

TEST_F(LoggingHandlers, BoundsTheBody) {
  EXPECT_EQ(Post(std::string(300 << 10, ' ')).error().code, Code::kOutOfRange);
}

/// A caller with one permission on all resources.
class OnePermission final : public access::Caller {
 public:
  explicit OnePermission(std::string permission) : permission_(std::move(permission)) {}
  [[nodiscard]] const iam::Login& login() const noexcept override { return login_; }
  asio::awaitable<Status> Require(std::string permission, iam::Resource resource) const override {
    if (permission == permission_ && resource == iam::Resource::Project("p")) co_return Status();
    co_return std::unexpected(Error{Code::kPermissionDenied, "needs " + permission, ""});
  }
  asio::awaitable<bool> StillMay() const override { co_return true; }

 private:
  iam::Login login_{.principal = "user:ann@example.com", .credential = "", .expires = {}};
  std::string permission_;
};

TEST_F(LoggingHandlers, AJobOfMlV1IsFoundByItsNumberInVertexAi) {
  Append("master-replica-0", {.texts = {"of the master"}, .first_stamp = kStart});
  Append("worker-replica-1", {.texts = {"job_id=9000000000000000012"}, .first_stamp = kStart});
  const auto ask = [this](const std::string& filter) {
    const json::object query{{"resourceNames", json::array{"projects/p"}}, {"filter", filter}};
    const Result<std::string> answer = Post(json::serialize(query));
    EXPECT_TRUE(answer) << answer.error().message;
    std::vector<std::string> tasks;
    const json::value page = json::parse(answer.value_or("{}"));
    if (const json::value* entries = page.as_object().if_contains("entries"))
      for (const json::value& entry : entries->as_array())
        tasks.push_back(json::serialize(entry.at("resource").at("labels").at("job_id")) + " " +
                        json::serialize(entry.at("resource").at("labels").at("task_name")));
    return tasks;
  };
  const std::string number = "resource.labels.job_id=\"9000000000000000012\"";
  EXPECT_THAT(ask(number + " AND resource.labels.task_name=\"workerpool1-1\""),
              ElementsAre(R"("9000000000000000012" "workerpool1-1")"));
  EXPECT_EQ(ask(number).size(), 2U);
  EXPECT_THAT(ask("resource.labels.job_id=\"9000000000000000013\""), ElementsAre());
  EXPECT_THAT(ask("jsonPayload.message:\"job_id=9000000000000000012\""),
              ElementsAre(R"("census_1" "worker-replica-1")"));
  EXPECT_THAT(ask("resource.labels.task_name=\"workerpool1-1\""), ElementsAre()) << "of another kind of job";
}

class LoggingHandlersAudit : public LoggingHandlers {
 protected:
  static constexpr std::string_view kNamed =
      R"json({"resourceNames": ["projects/p"], "filter": "log_id(\"cloudaudit.googleapis.com/activity\")"})json";

  void SetUp() override {
    LoggingHandlers::SetUp();
    Append("master-replica-0", {.texts = {"a line of a job"}, .first_stamp = kStart});
    const auto log = audit::AuditLog::Open(clock_, {.files = {.folder = folder_ + "/audit"}}).value();
    log->Add({.kind = iam::AuditKind::kAdminActivity,
              .principal = "user:ann@example.com",
              .method_name = "google.cloud.ml.v1.JobService.CreateJob",
              .permission = "ml.jobs.create",
              .resource = iam::Resource::Project("p"),
              .is_granted = true,
              .status = 200},
             "p");
  }
};

TEST_F(LoggingHandlersAudit, AnswersWhereTheFilterNamesTheAuditLogAndOnlyThere) {
  const std::string named = Post(std::string(kNamed)).value();
  EXPECT_THAT(named, testing::HasSubstr("google.cloud.ml.v1.JobService.CreateJob"));
  EXPECT_THAT(named, testing::Not(testing::HasSubstr("a line of a job")));
  const std::string all = Post(R"({"resourceNames": ["projects/p"]})").value();
  EXPECT_THAT(all, testing::HasSubstr("a line of a job"));
  EXPECT_THAT(all, testing::Not(testing::HasSubstr("CreateJob")));
}

TEST_F(LoggingHandlersAudit, NeedsAPermissionOfItsOwn) {
  caller_ = std::make_shared<OnePermission>("logging.privateLogEntries.list");
  EXPECT_TRUE(Post(std::string(kNamed)));
  caller_ = std::make_shared<OnePermission>("logging.logEntries.list");
  EXPECT_EQ(Post(std::string(kNamed)).error().message, "needs logging.privateLogEntries.list");
  EXPECT_TRUE(Post(R"({"resourceNames": ["projects/p"]})"));
}

}  // namespace
}  // namespace trainyard::api::logging_handlers_test
