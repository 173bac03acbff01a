
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "api/own/own_handlers.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using testing::HasSubstr;

/// Records the requests.
class FakeAdministration final : public Administration {
 public:
  awaitable<control::v1::AdminStatus> Status() override {
    control::v1::AdminStatus status;
    status.set_version("1.2");
    co_return status;
  }
  awaitable<Result<control::v1::Drain>> SetDrain(bool on, std::string by) override {
    control::v1::Drain drain;
    drain.set_on(on);
    drain.set_by(std::move(by));
    co_return drain;
  }
  boost::asio::awaitable<bool> IsFromMachine(const http::Request&) const override { co_return true; }
  Result<control::v1::Backup> BeginBackup(control::v1::BackupRequest request, bool) override {
    control::v1::Backup backup;
    backup.set_directory(request.directory());
    return backup;
  }
  [[nodiscard]] control::v1::Backup LastBackup() const override { return {}; }
  awaitable<Result<control::v1::Reload>> Reload() override {
    co_return std::unexpected(FailedPrecondition("the certificate stays as it was"));
  }
  awaitable<control::v1::Readiness> CheckReady() override {
    control::v1::Readiness readiness;
    readiness.set_ready(ready);
    readiness.add_checks()->set_name("disk");
    co_return readiness;
  }
  [[nodiscard]] std::string WhoAsks(const http::Request&) const override { return "ann"; }

  bool ready = true;
};

class Text final : public http::BodyReader {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const std::size_t count = text_.copy(reinterpret_cast<char*>(buffer.data()), buffer.size());
    text_.erase(0, count);
    co_return count;
  }

 private:
  std::string text_;
};

class AdminHandlersTest : public testing::Test {
 protected:
  void SetUp() override {
    AddRoutes(router_, OwnRoutes(), kOutside, {Lend<Administration>(administration_)});
  }
  Result<http::Response> Ask(http::Method method, const std::string& path, const std::string& body = "") {
    Text text(body);
    http::Request request;
    request.method = method;
    request.path = path;
    request.body = &text;
    auto handler = router_.Find(request);
    if (!handler) return std::unexpected(handler.error());
    Result<http::Response> answer = std::unexpected(Internal("no answer"));
    boost::asio::io_context loop;
    boost::asio::co_spawn(loop, Call(**handler, request, answer), boost::asio::detached);
    loop.run();
    return answer;
  }
  static awaitable<void> Call(const http::Handler& handler, http::Request& request,
                              Result<http::Response>& answer) {
    answer = co_await handler(request);
  }
  static std::string BodyOf(const Result<http::Response>& answer) {
    return answer ? std::get<std::string>(answer->body) : answer.error().message;
  }

  FakeAdministration administration_;
  http::Router router_;
};

TEST_F(AdminHandlersTest, ShowsTheStatus) {
  EXPECT_THAT(BodyOf(Ask(http::Method::kGet, "/trainyard/v1/admin/status")),
              HasSubstr(R"("version": "1.2")"));
}

TEST_F(AdminHandlersTest, DrainsInTheNameOfWhoAsks) {
  const auto drained = Ask(http::Method::kPost, "/trainyard/v1/admin/drain", R"({"on": true})");
  EXPECT_THAT(BodyOf(drained), HasSubstr(R"("by": "ann")"));
  EXPECT_FALSE(Ask(http::Method::kPost, "/trainyard/v1/admin/drain", R"({"of": true})"));
}

TEST_F(AdminHandlersTest, ABackupGoesToAnAbsolutePath) {
  EXPECT_THAT(BodyOf(Ask(http::Method::kPost, "/trainyard/v1/admin/backup", R"({"directory": "/b"})")),
              HasSubstr("/b"));
  const auto refused = Ask(http::Method::kPost, "/trainyard/v1/admin/backup", R"({"directory": "b"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "directory");
}

TEST_F(AdminHandlersTest, AReloadFailsAloud) {
  const auto reload = Ask(http::Method::kPost, "/trainyard/v1/admin/reload");
  ASSERT_FALSE(reload);
  EXPECT_EQ(reload.error().message, "the certificate stays as it was");
}

TEST_F(AdminHandlersTest, NotReadyIs503WithTheSameBody) {
  EXPECT_EQ(Ask(http::Method::kGet, "/readyz")->status, 200);
  administration_.ready = false;
  const auto answer = Ask(http::Method::kGet, "/readyz");
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(BodyOf(answer), HasSubstr("disk"));
}

TEST_F(AdminHandlersTest, ReplicasAreRefusedByName) {
  router_ = http::Router();
  AddReplicaRefusals(router_);
  for (const char* path : {"/trainyard/v1/admin/status", "/readyz"}) {
    const auto refused = Ask(http::Method::kGet, path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, Code::kPermissionDenied) << path;
  }
}

}  // namespace
}  // namespace trainyard::api
