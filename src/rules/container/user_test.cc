#include "rules/container/user.h"

#include <gtest/gtest.h>

#include <csignal>

namespace trainyard::container {
namespace {

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/bin/sh\n"
    "broken line\n"
    "bob:x:1000:1001:Bob:/home/bob:/bin/sh\n"
    "homeless:x:1002:1002::\n"
    "noshell:x:1003:1003:::\n";
constexpr std::string_view kGroup =
    "root:x:0:\nbob:x:1001:\nvideo:x:44:alice,bob\nrender:x:107:bob\nalso:x\n";

struct Row {
  const char* name;
  const char* user;
  User expected;
};

class ResolveUserTest : public testing::TestWithParam<Row> {};

TEST_P(ResolveUserTest, Is) { EXPECT_EQ(ResolveUser(GetParam().user, kPasswd, kGroup), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Rows, ResolveUserTest,
    testing::Values(Row{"unset", "", {.uid = 0, .gid = 0, .home = "/root"}},
                    Row{"name", "bob", {.uid = 1000, .gid = 1001, .groups = {44, 107}, .home = "/home/bob"}},
                    Row{"known_number", "1000", {1000, 1001, {44, 107}, "/home/bob"}},
                    Row{"unknown_number", "4242", {.uid = 4242}},
                    Row{"with_group", "bob:video", {1000, 44, {}, "/home/bob"}},
                    Row{"with_number_group", "bob:7", {1000, 7, {}, "/home/bob"}},
                    Row{"numbers", "4242:4343", {4242, 4343, {}, "/"}},
                    Row{"group_alone", ":video", {0, 44, {}, "/root"}},
                    Row{"no_shell", "noshell", {1003, 1003, {}, "/"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ResolveUserTest, RefusesNamesThatTheImageDoesNotHave) {
  for (const char* user : {"alice", "bob:wheel", "-1", "4294967296", "broken line"}) {
    const auto found = ResolveUser(user, kPasswd, kGroup);
    ASSERT_FALSE(found) << user;
    EXPECT_EQ(found.error().code, Code::kFailedPrecondition);
  }
  EXPECT_EQ(ResolveUser("alice", "", "").error().message,
            "the image's USER names the user 'alice', which its /etc/passwd does not have");
}

TEST(ResolveUserTest, NeedsNoFiles) {
  EXPECT_EQ(ResolveUser("", "", ""), (User{.uid = 0, .gid = 0, .home = "/root"}));
  EXPECT_EQ(ResolveUser("7:8", "", ""), (User{.uid = 7, .gid = 8}));
}

TEST(ParseStopSignalTest, KnowsNamesAndNumbers) {
  for (const auto& [text, signal] : std::vector<std::pair<const char*, int>>{{"", SIGTERM},
                                                                             {"SIGINT", SIGINT},
                                                                             {"QUIT", SIGQUIT},
                                                                             {"9", SIGKILL},
                                                                             {"SIGRTMIN+3", 37},
                                                                             {"RTMIN", 34}}) {
    EXPECT_EQ(ParseStopSignal(text), signal) << text;
  }
  for (const char* text : {"SIGFOO", "0", "65", "SIGRTMIN+99", "SIGRTMIN3", "int", "SIG", "-2"}) {
    EXPECT_FALSE(ParseStopSignal(text)) << text;
  }
}

}  // namespace
}  // namespace trainyard::container
