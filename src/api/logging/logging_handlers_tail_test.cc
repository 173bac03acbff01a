#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "api/logging/logging_handlers.h"
#include "base/clock.h"
#include "stores/logs/log_store.h"
#include "stores/logs/sample_chunk.h"

namespace trainyard::api {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class FixedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::seconds(1'700'000'100)); }
};

class NoBody final : public http::BodyReader {
 public:
  explicit NoBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size());
    std::ranges::copy(std::as_bytes(std::span(text_).first(size)), buffer.begin());
    text_.erase(0, size);
    co_return size;
  }

 private:
  std::string text_;
};

struct Event {
  std::string id;
  std::vector<std::string> texts;
};

/// "id: X\ndata: {...}\n\n"
Event ParseEvent(std::string_view text) {
  Event event;
  event.id = text.substr(4, text.find('\n') - 4);
  const std::string_view data = text.substr(text.find("\ndata: ") + 7);
  for (const auto& entry : boost::json::parse(data).at("entries").as_array())
    event.texts.emplace_back(entry.at("jsonPayload").at("message").as_string());
  return event;
}

/// The number of a job that was created by ml v1, in Vertex AI.
asio::awaitable<Result<std::string>> JobJIs12(std::string project, std::int64_t number) {
  if (project == "p" && number == 9'000'000'000'000'000'012) co_return "j";
  co_return std::unexpected(NotFound("none"));
}

class LoggingHandlersTail : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "logging_handlers_tail_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    store_ = logs::LogStore::Open(loop_, clock_, folder_ + "/logs.db").value();
    tails_ = logs::LogTails::Open(loop_.get_executor(), *store_, folder_ + "/logs.db").value();
    AddRoutes(router_, LoggingRoutes(), kOutside,
              {Give(TailSource{
                  .tails = *tails_, .heartbeat = std::chrono::milliseconds(1), .ml_job_of = JobJIs12})});
  }
  void TearDown() override {
    stream_ = {};
    tails_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <class T>
  T Await(asio::awaitable<T> work) {
    std::optional<T> result;
    asio::co_spawn(loop_, std::move(work), [&result](std::exception_ptr exception, T value) {
      EXPECT_FALSE(exception);
      result.emplace(std::move(value));
    });
    loop_.restart();
    while (!result) loop_.run_one();
    return *std::move(result);
  }

  void Store(const logs::SampleLines& lines) {
    const logs::LogSource source{.job_uid = 1,
                                 .project = "p",
                                 .job_id = "j",
                                 .source = "1-m-1",
                                 .task_name = "master-replica-0",
                                 .trial_id = "",
                                 .host_name = ""};
    EXPECT_TRUE(Await(store_->Append(source, logs::SampleChunk(lines))));
  }

  /// Opens a stream; its greeting has been read.
  Status Open(http::Request request, const std::string& body = "") {
    NoBody reader(body);
    request.path = "/v2/entries:tail";
    request.body = &reader;
    TY_TRY(const http::Handler* handler, router_.Find(request));
    TY_TRY(http::Response response, Await((*handler)(request)));
    EXPECT_EQ(response.headers.Get("Content-Type"), "text/event-stream");
    stream_ = std::get<http::StreamBody>(response.body);
    EXPECT_EQ(Await(stream_.next()).value().Joined(), "retry: 1000\n\n");
    return {};
  }

  Status Get(std::vector<std::pair<std::string, std::string>> query, const std::string& last_id = "") {
    http::Request request;
    request.query = std::move(query);
    if (!last_id.empty()) request.headers.Add("Last-Event-ID", last_id);
    return Open(std::move(request));
  }

  /// The next text of the stream that is not a heartbeat.
  std::string Next() {
    for (;;) {
      std::string text = Await(stream_.next()).value().Joined();
      if (text != ":\n\n") return text;
    }
  }

  std::string folder_;
  asio::io_context loop_;
  FixedClock clock_;
  http::Router router_;
  std::unique_ptr<logs::LogStore> store_;
  std::unique_ptr<logs::LogTails> tails_;
  http::StreamBody stream_;
};

constexpr const char* kHistory = R"(resource.labels.job_id="j" AND timestamp>="1970-01-01T00:00:00Z")";

TEST_F(LoggingHandlersTail, EventsAreBatchesWithCursors) {
  Store({.texts = {"before"}});
  ASSERT_TRUE(Get({{"resourceNames", "projects/p"}, {"alt", "sse"}}));
  EXPECT_EQ(Await(stream_.next()).value().Joined(), ":\n\n") << "a heartbeat, nothing of the past";
  Store({.first_line = 1, .texts = {"a", "b"}});
  const Event first = ParseEvent(Next());
  EXPECT_THAT(first.texts, ElementsAre("a", "b"));
  Store({.first_line = 3, .texts = {"c"}});
  EXPECT_THAT(ParseEvent(Next()).texts, ElementsAre("c"));
  // Continuing after the first event, by either parameter.
  ASSERT_TRUE(Get({{"resourceNames", "projects/p"}}, first.id));
  EXPECT_THAT(ParseEvent(Next()).texts, ElementsAre("c"));
  ASSERT_TRUE(Get({{"resourceNames", "projects/p"}, {"cursor", first.id}}));
  EXPECT_THAT(ParseEvent(Next()).texts, ElementsAre("c"));
}

TEST_F(LoggingHandlersTail, PostHasTheFieldsInTheBody) {
  Store({.texts = {"a"}});
  http::Request request;
  request.method = http::Method::kPost;
  ASSERT_TRUE(Open(std::move(request), R"({"resourceNames": ["projects/p"], "bufferWindow": "2s", "filter":
      "resource.labels.job_id=\"j\" timestamp>=1970-01-01"})"));
  EXPECT_THAT(ParseEvent(Next()).texts, ElementsAre("a"));
}

TEST_F(LoggingHandlersTail, SaysWhenAClientHasFallenBehind) {
  Store({.texts = logs::NumberedTexts("t", 600)});
  ASSERT_TRUE(Get({{"resourceNames", "projects/p"}, {"filter", kHistory}}));
  EXPECT_THAT(Next(), StartsWith("id: ")) << "the past is no delay";
  EXPECT_EQ(ParseEvent(Next()).texts.size(), 100U);
  Store({.first_line = 600, .texts = logs::NumberedTexts("u", 1200)});  // while the client was not reading
  std::string text = Next();
  constexpr std::string_view kBehind = ": the client is slow; continuing from the store\n";
  ASSERT_THAT(text, StartsWith(std::string(kBehind)));
  EXPECT_EQ(ParseEvent(std::string_view(text).substr(kBehind.size())).texts.size(), 500U);
  EXPECT_EQ(ParseEvent(Next()).texts.size(), 500U);
  EXPECT_EQ(ParseEvent(Next()).texts.size(), 200U);
}

TEST_F(LoggingHandlersTail, FollowsAJobByItsNumberInVertexAi) {
  Store({.texts = {"a", "b"}});
  ASSERT_TRUE(Get({{"resourceNames", "projects/p"},
                   {"filter",
                    "resource.labels.job_id=\"9000000000000000012\" AND "
                    "resource.labels.task_name=\"workerpool0-0\" AND timestamp>=\"1970-01-01\""}}));
  const std::string text = Next();
  const Event event = ParseEvent(text);
  EXPECT_THAT(event.texts, ElementsAre("a", "b"));
  EXPECT_THAT(text, HasSubstr(R"("job_id":"9000000000000000012")"));
  EXPECT_THAT(text, HasSubstr(R"("task_name":"workerpool0-0")"));
  Store({.first_line = 2, .texts = {"c"}});
  EXPECT_THAT(ParseEvent(Next()).texts, ElementsAre("c"));
}

struct Refused {
  const char* name;
  std::vector<std::pair<std::string, std::string>> query;
  const char* field;
};
class LoggingHandlersTailRefuse : public LoggingHandlersTail, public testing::WithParamInterface<Refused> {};
TEST_P(LoggingHandlersTailRefuse, BeforeTheStream) {
  const Status opened = Get(GetParam().query);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kInvalidArgument);
  EXPECT_EQ(opened.error().field, GetParam().field);
}
INSTANTIATE_TEST_SUITE_P(
    Queries, LoggingHandlersTailRefuse,
    testing::Values(
        Refused{"no_name", {}, "resource_names"},
        Refused{"filter", {{"resourceNames", "projects/p"}, {"filter", "a="}}, "filter"},
        Refused{"cursor", {{"resourceNames", "projects/p"}, {"cursor", "x"}}, "cursor"},
        Refused{"window", {{"resourceNames", "projects/p"}, {"bufferWindow", "x"}}, "buffer_window"},
        Refused{"fields", {{"resourceNames", "projects/p"}, {"fields", "entries"}}, "fields"},
        Refused{"alt", {{"resourceNames", "projects/p"}, {"alt", "media"}}, "alt"},
        Refused{"unknown", {{"resourceNames", "projects/p"}, {"filtre", "x"}}, ""},
        Refused{"window_long", {{"resourceNames", "projects/p"}, {"bufferWindow", "61s"}}, "buffer_window"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::api
