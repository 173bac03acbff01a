#include "base/systemd/notify_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::systemd {
namespace {

TEST(ReloadHooks, WithoutAnyThereIsNothingToRead) { EXPECT_TRUE(ReloadHooks().RunAll()->empty()); }

TEST(ReloadHooks, OneThatFailsStopsNoOther) {
  ReloadHooks hooks;
  int ran = 0;
  hooks.Add("the certificate", [] { return std::unexpected(NotFound("no such file")); });
  hooks.Add("the list", [&ran]() -> Status {
    ++ran;
    return {};
  });
  const auto read = hooks.RunAll();
  EXPECT_EQ(ran, 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), FailedPrecondition("the certificate stays as it was: no such file"));
}

TEST(ReloadHooks, NamesWhatWasRead) {
  ReloadHooks hooks;
  hooks.Add("the list", []() -> Status { return {}; });
  EXPECT_THAT(hooks.RunAll().value(), testing::ElementsAre("the list"));
}

}  // namespace
}  // namespace trainyard::systemd
