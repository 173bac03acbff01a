#include "engine/local/container_support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <future>

namespace trainyard::engine {
namespace {

/// Here a look begins at once and ends when the test allows it.
class ContainerProbeTest : public testing::Test {
 protected:
  Result<ContainerSupport> Look() {
    ++looks_;
    go_.get_future().wait();
    return ContainerSupport{.shown = "crun 1.8.1"};
  }
  void Ask(std::chrono::milliseconds wait_max = std::chrono::hours(1)) {
    boost::asio::co_spawn(loop_, probe_.Ask(wait_max), [this](const std::exception_ptr&) { ++answered_; });
  }

  boost::asio::io_context loop_;
  boost::asio::thread_pool pool_{4};
  std::promise<void> go_;
  std::atomic<int> looks_ = 0;
  int taken_ = 0;
  int answered_ = 0;
  ContainerProbe probe_{loop_.get_executor(), pool_, [this] { return Look(); },
                        [this](const Result<ContainerSupport>& found) {
                          EXPECT_EQ(found->shown, "crun 1.8.1");
                          EXPECT_EQ(answered_, 0);
                          ++taken_;
                        }};
};

TEST_F(ContainerProbeTest, AllWhoAskTogetherGetTheAnswerOfOneLook) {
  for (int i = 0; i < 20; ++i) Ask();
  loop_.poll();
  EXPECT_EQ(answered_, 0);
  go_.set_value();
  loop_.run();
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(taken_, 1);
  EXPECT_EQ(answered_, 20);
  go_ = {};
  go_.set_value();
  answered_ = 0;
  Ask();
  loop_.restart();
  loop_.run();
  EXPECT_EQ(looks_, 2) << "an answer is not kept";
}

TEST_F(ContainerProbeTest, WhoAsksDoesNotWaitLongerThanItSays) {
  Ask(std::chrono::milliseconds(1));
  while (answered_ == 0) loop_.run_one();
  EXPECT_EQ(taken_, 0);
  answered_ = 0;
  go_.set_value();
  loop_.run();
  EXPECT_EQ(taken_, 1) << "the look went on";
  EXPECT_EQ(looks_, 1);
}

}  // namespace
}  // namespace trainyard::engine
