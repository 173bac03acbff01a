#include "programs/environment/pip_settings.h"

#include <gtest/gtest.h>

namespace trainyard::environment {
namespace {

using Settings = std::map<std::string, std::string>;

struct Row {
  const char* name;
  const char* conf;
  Settings environment;
  Settings expected;
};
class UvSettings : public testing::TestWithParam<Row> {};
TEST_P(UvSettings, Follow) {
  EXPECT_EQ(UvSettingsFromPip(GetParam().conf, GetParam().environment), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, UvSettings,
    testing::Values(Row{"nothing", "", {}, {}},
                    Row{"global",
                        "[global]\nindex-url = https://mirror/simple\n",
                        {},
                        {{"UV_DEFAULT_INDEX", "https://mirror/simple"}}},
                    Row{"colon_comment_crlf",
                        "# ours\r\n[global]\r\nindex-url: https://m/s\r\n",
                        {},
                        {{"UV_DEFAULT_INDEX", "https://m/s"}}},
                    Row{"several_lines",
                        "[global]\nextra-index-url =\n    https://a/s\n    https://b/s\n",
                        {},
                        {{"UV_INDEX", "https://a/s https://b/s"}}},
                    Row{"other_section",
                        "[list]\nindex-url = https://x/s\n[install]\ncert = /ca.pem",
                        {},
                        {{"SSL_CERT_FILE", "/ca.pem"}}},
                    Row{"later_file_wins",
                        "[global]\nindex-url = https://a/s\n[global]\nindex-url = https://b/s\n",
                        {},
                        {{"UV_DEFAULT_INDEX", "https://b/s"}}},
                    Row{"variable_wins",
                        "[global]\nindex-url = https://a/s\n",
                        {{"PIP_INDEX_URL", "https://b/s"}},
                        {{"UV_DEFAULT_INDEX", "https://b/s"}}},
                    Row{"uv_wins",
                        "[global]\nindex-url = https://a/s\n",
                        {{"PIP_INDEX_URL", "https://b/s"}, {"UV_DEFAULT_INDEX", "https://c/s"}},
                        {}},
                    Row{"offline",
                        "",
                        {{"PIP_NO_INDEX", "1"}, {"PIP_FIND_LINKS", "/wheels"}},
                        {{"UV_NO_INDEX", "1"}, {"UV_FIND_LINKS", "/wheels"}}}),
    [](const auto& row) { return row.param.name; });

TEST(PipVariables, AreEveryOptionThatHasNone) {
  EXPECT_EQ(
      PipVariables("[global]\nindex-url = https://a/simple\ntimeout=5\n[install]\nfind-links =\n  /w\n  /v\n"
                   "[list]\nformat = columns\n",
                   {{"PIP_TIMEOUT", "9"}}),
      (Settings{{"PIP_INDEX_URL", "https://a/simple"}, {"PIP_FIND_LINKS", "/w /v"}}));
}

TEST(IsToolSetting, OfPipAndTheNetworkOnly) {
  for (const char* name : {"PIP_INDEX_URL", "UV_INDEX", "https_proxy", "SSL_CERT_FILE", "PATH", "LC_ALL"})
    EXPECT_TRUE(IsToolSetting(name)) << name;
  for (const char* name : {"HOME", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LD_PRELOAD", "PATHS", ""})
    EXPECT_FALSE(IsToolSetting(name)) << name;
}

TEST(PathsIn, OfListsAndUrls) {
  EXPECT_EQ(PathsIn("/a,file:///b https://c/d\n/e"), (std::vector<std::string>{"/a", "/b", "/e"}));
  EXPECT_EQ(PathsIn("a/b"), std::vector<std::string>());
}

}  // namespace
}  // namespace trainyard::environment
