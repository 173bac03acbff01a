#include "cli/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace trainyard::cli {
namespace {

TEST(InterruptEndsDeathTest, EndsASleep) {
  const auto sleep = [] {
    const InterruptEnds ends("It goes on.\n", 130);
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(sleep(), testing::ExitedWithCode(130), "^It goes on\\.\n$");
}

}  // namespace
}  // namespace trainyard::cli
