#include "cli/auth/logins.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::cli {
namespace {

SettingSources SourcesOf(const std::string& folder) {
  SettingSources sources = ProcessSettingSources();
  sources.variable = [folder](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "XDG_CONFIG_HOME") return folder;
    return std::nullopt;
  };
  return sources;
}

const ServerLogin kFirst{
    .server = "https://a:1", .ca_file = "/ca.pem", .principal = "user:a@x.org", .token = "ty_1"};
const ServerLogin kSecond{.server = "https://b:2",
                          .ca_file = "",
                          .principal = "user:b@x.org",
                          .token = "ty_2",
                          .project = "vision"};

TEST(ServerLogins, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const SettingSources sources = SourcesOf(folder.path());
  EXPECT_EQ(ReadLogins(sources), ServerLogins{});
  const ServerLogins kept = WithLogin(WithLogin({}, kFirst), kSecond);
  ASSERT_TRUE(WriteLogins(sources, kept));
  EXPECT_EQ(ReadLogins(sources), kept);
  struct stat found{};
  ASSERT_EQ(::stat(LoginsPath(sources).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST(ServerLogins, TheLastOneIsActive) {
  ServerLogins kept = WithLogin(WithLogin({}, kFirst), kSecond);
  EXPECT_EQ(kept.active, "https://b:2");
  ASSERT_NE(kept.Find("https://a:1/"), nullptr);
  EXPECT_EQ(*kept.Find("https://a:1/"), kFirst);
  EXPECT_EQ(kept.Find("https://a:11"), nullptr);
  ServerLogin renewed = kFirst;
  renewed.token = "ty_3";
  kept = WithLogin(std::move(kept), renewed);
  EXPECT_EQ(kept.logins.size(), 2U);
  EXPECT_EQ(kept.active, "https://a:1");
  kept = WithoutLogin(std::move(kept), "https://a:1/");
  EXPECT_EQ(kept.active, "https://b:2");
  kept = WithoutLogin(std::move(kept), "https://b:2");
  EXPECT_EQ(kept, ServerLogins{});
}

TEST(ServerLogins, AFileOfAnotherFormIsNone) {
  SettingSources sources = SourcesOf("/none");
  for (const char* text : {"", "{", "[]", R"({"logins": 1})", R"({"logins": [{"server": "x"}]})"}) {
    sources.read_file = [text](const std::string&) { return std::optional<std::string>(text); };
    EXPECT_EQ(ReadLogins(sources), ServerLogins{}) << text;
  }
}

}  // namespace
}  // namespace trainyard::cli
