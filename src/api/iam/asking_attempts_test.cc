#include "api/iam/authority.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>

#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "control/run/token_service.h"

namespace trainyard::api {
namespace {

using Attempt = AskingAttempts::Attempt;

const std::string kMine = "1-master-replica-0-1";
const std::string kOthers = "2-master-replica-0-1";

/// Programs send requests; the only thread that looks them up waits until the test lets it continue.
class AskingAttemptsTest : public testing::Test {
 protected:
  AskingAttemptsTest() {
    boost::asio::post(pool_, [go = go_.get_future().share()] { go.wait(); });
  }
  ~AskingAttemptsTest() override { pool_.join(); }

  void Ask(std::optional<Attempt>& answer) {
    boost::asio::co_spawn(loop_, asking_.FindByPlace(request_),
                          [&answer](const std::exception_ptr&, Attempt found) { answer = std::move(found); });
  }

  TemporaryFolder attempts_;
  boost::asio::io_context loop_;
  boost::asio::thread_pool pool_{1};
  std::promise<void> go_;
  control::Settings settings_{.keys = control::Keys::Derive("secret")};
  SystemClock clock_;
  access::PeerUids peers_;
  AskingAttempts asking_{loop_.get_executor(),
                         {.settings = settings_,
                          .clock = clock_,
                          .instance_of = nullptr,
                          .peers = peers_,
                          .pool = pool_,
                          .attempts_dir = attempts_.path(),
                          .turn_wait_max = std::chrono::milliseconds(1)}};
  http::Peer peer_{.pid = ::getpid()};
  http::Request request_;
};

TEST_F(AskingAttemptsTest, WhoGetsNoTurnInTimeIsNotTakenForNobody) {
  request_.peer = &peer_;
  std::optional<Attempt> first;
  std::optional<Attempt> second;
  Ask(first);
  Ask(second);
  while (!second) loop_.run_one();
  ASSERT_FALSE(*second);
  EXPECT_EQ(second->error().code, Code::kUnavailable);
  EXPECT_FALSE(first);
  go_.set_value();
  loop_.run();
  EXPECT_EQ(first, Attempt(std::nullopt)) << "this process is of no attempt";
}

TEST_F(AskingAttemptsTest, ANameThatOthersCanReadProvesNothing) {
  go_.set_value();
  request_.peer = &peer_;
  request_.host = control::MetadataHostName(settings_.keys, kMine);
  std::optional<Attempt> found;
  Ask(found);
  loop_.run();
  EXPECT_EQ(found, Attempt(std::nullopt)) << "this process is of no attempt";
}

TEST_F(AskingAttemptsTest, TheNameMustBeOfWhoseTheConnectionIs) {
  go_.set_value();
  peer_.attempt = kMine;
  request_.peer = &peer_;
  for (const std::string& host :
       {std::string("metadata.google.internal"), control::MetadataHostName(settings_.keys, kMine),
        kOthers + ".00.metadata.trainyard"}) {
    request_.host = host;
    std::optional<Attempt> found;
    Ask(found);
    loop_.run();
    loop_.restart();
    EXPECT_EQ(found, Attempt(kMine)) << host;
  }
  request_.host = control::MetadataHostName(settings_.keys, kOthers);
  std::optional<Attempt> found;
  Ask(found);
  loop_.run();
  ASSERT_FALSE(*found);
  EXPECT_EQ(found->error().code, Code::kPermissionDenied);
}

}  // namespace
}  // namespace trainyard::api
