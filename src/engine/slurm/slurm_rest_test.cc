#include "engine/slurm/slurm_rest.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <map>
#include <thread>

#include "base/async/file.h"
#include "net/http/server.h"

namespace trainyard::engine {
namespace {

using slurm::Failure;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kJob17 =
    R"({"jobs": [{"job_id": 17, "name": "ty-a-1-1", "job_state": ["RUNNING"], "user_name": "ada"}]})";
constexpr const char* kGone = R"({"errors": [{"error": "Invalid job id specified", "error_number": 2017}]})";

/// Answers as the test sets, and records its requests.
class FakeSlurmrestd {
 public:
  struct Answer {
    int status = 200;
    std::string body;
  };
  struct Asked {
    std::string what;  ///< "GET /slurm/v0.0.42/jobs"
    std::string body;
    std::string user;
    std::string token;
  };

  explicit FakeSlurmrestd(const std::filesystem::path& socket) : server_(loop_, router_) {
    for (const auto& [method, name] :
         {std::pair(http::Method::kGet, "GET "), std::pair(http::Method::kPost, "POST "),
          std::pair(http::Method::kDelete, "DELETE ")})
      router_.Add(method, "/{rest=**}",
                  [this, name](http::Request& request) { return Play(*this, name, request); });
    EXPECT_TRUE(server_.ListenUnix(socket));
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~FakeSlurmrestd() {
    boost::asio::post(loop_, [this] { server_.Stop(); });
    thread_.join();
  }
  FakeSlurmrestd(const FakeSlurmrestd&) = delete;
  FakeSlurmrestd& operator=(const FakeSlurmrestd&) = delete;

  /// Sets the answer to a request; other requests get "not found".
  void Say(const std::string& what, std::string body, int status = 200) {
    answers_.With([&](auto& answers) { answers[what] = {.status = status, .body = std::move(body)}; });
  }
  void SayNothing() {
    answers_.With([](auto& answers) { answers.clear(); });
  }
  /// The requests since the last call.
  std::vector<Asked> TakeAsked() {
    return asked_.With([](auto& asked) { return std::exchange(asked, {}); });
  }
  std::vector<std::string> TakeQuestions() {
    std::vector<std::string> questions;
    for (Asked& asked : TakeAsked()) questions.push_back(std::move(asked.what));
    return questions;
  }

 private:
  static http::asio::awaitable<Result<http::Response>> Play(FakeSlurmrestd& fake, std::string method,
                                                            http::Request& request) {
    Asked asked{.what = method + request.target,
                .body = {},
                .user = std::string(request.headers.Get("X-SLURM-USER-NAME")),
                .token = std::string(request.headers.Get("X-SLURM-USER-TOKEN"))};
    TY_CO_TRY(asked.body, co_await request.body->ReadAll(1 << 20));
    const std::string what = asked.what;
    fake.asked_.With([&asked](auto& all) { all.push_back(std::move(asked)); });
    const Answer answer = fake.answers_.With([&what](const auto& answers) {
      const auto found = answers.find(what);
      return found != answers.end() ? found->second
                                    : Answer{.status = 404, .body = "Unable find requested URL."};
    });
    co_return http::Response::Json(answer.body, answer.status);
  }

  Guarded<std::map<std::string, Answer>> answers_;
  Guarded<std::vector<Asked>> asked_;
  boost::asio::io_context loop_;
  http::Router router_;
  http::Server server_;
  std::thread thread_;
};

class SlurmRestTest : public testing::Test {
 protected:
  SlurmRestTest() {
    std::string pattern = testing::TempDir() + "slurm_rest_test.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    slurmrestd_.emplace(folder_ / "socket");
    slurmrestd_->Say("GET /slurm/v0.0.42/ping", R"({"pings": []})");
  }
  ~SlurmRestTest() override {
    slurmrestd_.reset();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] SlurmRest Client(std::filesystem::path token_file = {}) const {
    return SlurmRest({.endpoint = http::Endpoint::Parse("unix:" + (folder_ / "socket").string()).value(),
                      .owner = {.number = 1000, .name = "ada"},
                      .token_file = std::move(token_file)});
  }
  static SlurmAnswer<std::int64_t> Submit(const SlurmRest& client) {
    return client.Submit(
        {.installation = "a", .submission = {.gang = {.job_uid = 1, .try_number = 1}, .number = 1}},
        {.components = {{.replicas = {0}}}});
  }

  std::filesystem::path folder_;
  std::optional<FakeSlurmrestd> slurmrestd_;
};

TEST_F(SlurmRestTest, ChoosesTheNewestVersionOnce) {
  slurmrestd_->SayNothing();
  slurmrestd_->Say("GET /slurm/v0.0.40/ping", R"({"pings": []})");
  slurmrestd_->Say("GET /slurm/v0.0.38/ping", R"({"pings": []})");
  slurmrestd_->Say("GET /slurm/v0.0.40/jobs", kJob17);
  slurmrestd_->Say("GET /slurm/v0.0.38/jobs", kJob17);
  const SlurmRest client = Client();
  EXPECT_EQ(client.List(std::nullopt)->at(0).id, 17);
  EXPECT_THAT(slurmrestd_->TakeQuestions(),
              ElementsAre("GET /slurm/v0.0.42/ping", "GET /slurm/v0.0.41/ping", "GET /slurm/v0.0.40/ping",
                          "GET /slurm/v0.0.40/jobs"));
  EXPECT_TRUE(client.List(std::nullopt));
  EXPECT_THAT(slurmrestd_->TakeQuestions(), ElementsAre("GET /slurm/v0.0.40/jobs"));

  slurmrestd_->Say("GET /slurm/v0.0.40/ping", "", 404);
  slurmrestd_->Say("GET /slurm/v0.0.40/jobs", "", 404);
  EXPECT_EQ(client.List(std::nullopt).error().failure, Failure::kNoAnswer);
  EXPECT_EQ(client.List(std::nullopt)->at(0).id, 17) << "by v0.0.38";
  slurmrestd_->SayNothing();
  EXPECT_FALSE(client.List(std::nullopt));
  EXPECT_EQ(client.List(std::nullopt).error(),
            (SlurmRefusal{Failure::kMistake, "slurmrestd offers none of the interfaces v0.0.38 to v0.0.42"}));
}

TEST_F(SlurmRestTest, SubmitsOrSaysWhyNot) {
  const std::string submit = "POST /slurm/v0.0.42/job/submit";
  const SlurmRest client = Client();
  slurmrestd_->Say(submit, R"({"job_id": 17, "errors": []})");
  EXPECT_EQ(Submit(client), 17);
  const FakeSlurmrestd::Asked asked = slurmrestd_->TakeAsked().back();
  EXPECT_EQ(asked.what, submit);
  EXPECT_THAT(asked.body, HasSubstr(R"("name":"ty-a-1-1")"));
  slurmrestd_->Say(
      submit,
      R"({"job_id": 18, "errors": [{"error": "Requested partition configuration not available now"}]})");
  EXPECT_EQ(Submit(client), 18) << "it waits";
  slurmrestd_->Say(submit, R"({"errors": [{"error": "Invalid partition name specified"}]})", 500);
  EXPECT_EQ(Submit(client).error(), (SlurmRefusal{Failure::kMistake, "Invalid partition name specified"}));
  slurmrestd_->Say(submit, R"({"errors": [{"error": "Unable to read integer value"}]})", 400);
  EXPECT_EQ(Submit(client).error().failure, Failure::kMistake) << "it will never be understood";
  for (const int status : {200, 500}) {
    slurmrestd_->Say(submit, R"({"errors": []})", status);
    EXPECT_EQ(Submit(client).error().failure, Failure::kNoAnswer) << "it may be there";
  }
}

TEST_F(SlurmRestTest, AControllerThatIsDownHasNoEmptyList) {
  const SlurmRest client = Client();
  slurmrestd_->Say("GET /slurm/v0.0.42/jobs",
                   R"({"errors": [{"description": "Failed while looking for jobs"}], "jobs": []})", 500);
  EXPECT_EQ(client.List(std::nullopt).error(),
            (SlurmRefusal{Failure::kNoAnswer, "Failed while looking for jobs"}));
  slurmrestd_->Say("GET /slurm/v0.0.42/job/17", kGone, 404);
  EXPECT_THAT(client.List(17).value(), IsEmpty());
  slurmrestd_->Say("GET /slurm/v0.0.42/jobs", kGone, 404);
  EXPECT_FALSE(client.List(std::nullopt));
  slurmrestd_->Say("GET /slurm/v0.0.42/job/17", "<html>502</html>", 200);
  EXPECT_EQ(client.List(17).error().failure, Failure::kNoAnswer);
}

TEST_F(SlurmRestTest, CancelsOnlyWhatHasTheName) {
  const SlurmRest client = Client();
  const std::string get = "GET /slurm/v0.0.42/job/";
  const std::string end = "DELETE /slurm/v0.0.42/job/";
  slurmrestd_->Say(get + "17", kJob17);
  slurmrestd_->Say(get + "18", kGone, 404);
  slurmrestd_->Say(end + "17",
                   R"({"status": [{"error": {"string": "Job/step already completing or completed"}}]})");
  ASSERT_TRUE(client.List(17));
  slurmrestd_->TakeAsked();
  EXPECT_TRUE(client.Cancel("ty-a-2-1", std::vector<std::int64_t>{17}));
  EXPECT_THAT(slurmrestd_->TakeQuestions(), ElementsAre(get + "17"));
  EXPECT_TRUE(client.Cancel("ty-a-1-1", std::vector<std::int64_t>{18, 17}));
  EXPECT_THAT(slurmrestd_->TakeQuestions(), ElementsAre(get + "18", get + "17", end + "17"));

  slurmrestd_->Say(get + "19", R"({"errors": [{"error": "Unable to contact slurm controller"}]})", 500);
  slurmrestd_->Say(end + "17", R"({"errors": [{"error": "Access/permission denied"}]})", 500);
  EXPECT_EQ(client.Cancel("ty-a-1-1", std::vector<std::int64_t>{17, 18}).error(),
            (SlurmRefusal{Failure::kMistake, "Access/permission denied"}));
  EXPECT_EQ(client.Cancel("ty-a-1-1", std::vector<std::int64_t>{19, 18}).error().failure, Failure::kNoAnswer);
}

TEST_F(SlurmRestTest, NodesComeFromTwoAnswers) {
  const SlurmRest client = Client();
  slurmrestd_->Say("GET /slurm/v0.0.42/nodes", R"({"nodes": [{"name": "n1", "partitions": ["main"]}]})");
  EXPECT_FALSE(client.Nodes());
  slurmrestd_->Say("GET /slurm/v0.0.42/partitions", R"({"partitions": [{"name": "main"}]})");
  EXPECT_EQ(client.Nodes()->at(0).partition, "main");
}

TEST_F(SlurmRestTest, TheTokenIsReadForEachQuestion) {
  const std::filesystem::path file = folder_ / "token";
  const SlurmRest client = Client(file);
  EXPECT_EQ(client.List(std::nullopt).error().failure, Failure::kMistake) << "there is no file";
  EXPECT_THAT(slurmrestd_->TakeAsked(), IsEmpty());
  slurmrestd_->Say("GET /slurm/v0.0.42/jobs", kJob17);
  for (const char* text : {"first\n", "SLURM_JWT=second\n"}) {
    ASSERT_TRUE(WriteFileAtomically(file, text));
    ASSERT_TRUE(client.List(std::nullopt));
  }
  const std::vector<FakeSlurmrestd::Asked> asked = slurmrestd_->TakeAsked();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[1].token, "first");
  EXPECT_EQ(asked[2].token, "second");
  EXPECT_EQ(asked[2].user, "ada");
  ASSERT_TRUE(Client().List(std::nullopt));
  EXPECT_EQ(slurmrestd_->TakeAsked().back().token, "") << "a Unix socket needs none";
}

TEST_F(SlurmRestTest, AnAccountThatIsRefusedIsTheOperatorsMatter) {
  slurmrestd_->Say("GET /slurm/v0.0.42/ping", "Authentication failure", 401);
  const SlurmAnswer<std::vector<slurm::Node>> nodes = Client().Nodes();
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error().failure, Failure::kMistake);
  EXPECT_THAT(nodes.error().words, HasSubstr("HTTP 401"));
}

TEST_F(SlurmRestTest, WhereNobodyListensNothingIsKnown) {
  slurmrestd_.reset();
  const SlurmAnswer<std::int64_t> id = Submit(Client());
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().failure, Failure::kNoAnswer);
  EXPECT_THAT(id.error().words, HasSubstr("slurmrestd: "));
}

}  // namespace
}  // namespace trainyard::engine
