#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Words = std::vector<std::string>;

const Words kHook = {"--notify", "ops=https://hooks.example.com/in events=failed"};
const Words kMail = {"--notify", "team=mailto:team@example.com"};

Words With(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(NoticeFlags, NameDestinationsAndMeans) {
  const Words secret = {"--notify-secret-file", "/etc/secret", "--notify-after", "2h"};
  const Words server = {"--smtp-server", "smtps://robot@mail.example.com", "--smtp-from",
                        "t@example.com", "--smtp-password-file",           "/etc/password"};
  const auto read = ReadServeFlags(With(With(With(kHook, kMail), secret), server));
  ASSERT_TRUE(read) << read.error().message;
  const NoticeOptions& notices = (*read)->notices;
  EXPECT_EQ(notices.destinations.size(), 2U);
  EXPECT_EQ(notices.long_wait, std::chrono::hours(2));
  EXPECT_EQ(notices.mail_server->user, "robot");
  EXPECT_EQ(notices.mail_from, "t@example.com");
}

struct Wrong {
  const char* name;
  Words words;
  const char* field;
  const char* why;
};
class WrongNoticeFlags : public testing::TestWithParam<Wrong> {};
TEST_P(WrongNoticeFlags, NameTheFlagAndTheReason) {
  const auto read = ReadServeFlags(GetParam().words);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().field, GetParam().field);
  EXPECT_THAT(read.error().message, testing::HasSubstr(GetParam().why));
}
INSTANTIATE_TEST_SUITE_P(
    Flags, WrongNoticeFlags,
    testing::Values(
        Wrong{"no_secret", kHook, "--notify-secret-file", "'ops' of --notify needs a secret"},
        Wrong{"no_server", With(kMail, {"--smtp-from", "t@example.com"}), "--smtp-server", "needs both"},
        Wrong{"no_sender", With(kMail, {"--smtp-server", "smtp://mail"}), "--smtp-from", "needs both"},
        Wrong{"no_password",
              {"--smtp-server", "smtp://robot@mail"},
              "--smtp-password-file",
              "needs a password"},
        Wrong{"no_user", {"--smtp-password-file", "/etc/password"}, "--smtp-password-file", "needs a user"},
        Wrong{"relative", {"--notify-secret-file", "secret"}, "--notify-secret-file", "not an absolute path"},
        Wrong{"port", {"--notify", "a=https://h:x/", "--notify-secret-file", "/s"}, "--notify", "h:x"},
        Wrong{"twice", With(kMail, kMail), "--notify", "two destinations"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::server
