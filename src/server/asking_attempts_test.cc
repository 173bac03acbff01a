#include "server/asking_attempts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <future>

#include "async/system_clock.h"
#include "async/testing/temporary_folder.h"

namespace trainyard::server {
namespace {

using Attempt = AskingAttempts::Attempt;

/// Programs ask; the one thread that looks for them does nothing until the test lets it go on.
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

}  // namespace
}  // namespace trainyard::server
