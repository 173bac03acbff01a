#include "base/process/descriptor_limit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/async/unique_fd.h"
#include "base/process/child_process.h"

namespace trainyard {
namespace {

/// The limit that a child prints after it has certainly been started.
std::string LimitOfAChild() {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  EXPECT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  UniqueFd go(input[1]);
  const UniqueFd said(output[0]);
  {
    const UniqueFd theirs_in(input[0]);
    const UniqueFd theirs_out(output[1]);
    auto child = ChildProcess::Spawn(
        {.argv = {"/bin/sh", "-c", "read line; ulimit -Sn"}, .descriptors = {{input[0], 0}, {output[1], 1}}});
    EXPECT_TRUE(child);
    go.Reset();
    EXPECT_TRUE(child && child->WaitFor(std::chrono::seconds(60)));
  }
  std::array<char, 100> text{};
  const ssize_t size = ::read(said.get(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// One test for everything, because a raised limit is not lowered for later tests.
TEST(DescriptorLimit, WhatWeStartHasTheFormerLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(FormerDescriptorLimit(), std::nullopt);
  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max);
  EXPECT_EQ(FormerDescriptorLimit(), 512U);
  EXPECT_EQ(LimitOfAChild(), "512\n");
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, before.rlim_max);
  EXPECT_TRUE(LowerDescriptorLimit(0, 600));
  EXPECT_TRUE(LowerDescriptorLimit(0, 700));
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_EQ(now.rlim_cur, 600U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace trainyard
