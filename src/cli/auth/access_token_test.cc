#include "cli/auth/access_token.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/async/testing/temporary_folder.h"
#include "cli/auth/logins.h"

namespace trainyard::cli {
namespace {

constexpr char kLocal[] = "http://127.0.0.1:8470";
constexpr char kLogins[] =
    R"({"active": "https://yard:1", "logins": [{"server": "https://yard:1", "token": "ty_login", "principal": "p"}]})";

class FindTokenTest : public testing::Test {
 protected:
  FindTokenTest() {
    files_["/data/run/server.json"] =
        R"({"url": "http://127.0.0.1:8470", "tls_url": "https://127.0.0.1:8471", "auth": true})";
    files_["/data/admin-token"] = "ty_admin\n";
    files_["/home/.config/trainyard/credentials.json"] = kLogins;
    variables_["HOME"] = "/home";
    sources_.variable = [this](const char* name) { return Find(variables_, name); };
    sources_.read_file = [this](const std::string& path) { return Find(files_, path); };
    std::ofstream(file_) << "  ty_file\n\n";
  }
  static std::optional<std::string> Find(const std::map<std::string, std::string>& all,
                                         const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  std::string Token(const std::string& server) {
    const Result<ClientToken> token = FindToken(arguments_, sources_, "/data", server);
    return token ? token->text + " (" + token->source + ")" : token.error().message;
  }

  const TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/token";
  Arguments arguments_;
  SettingSources sources_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> files_;
};

TEST_F(FindTokenTest, TheNearestSettingWins) {
  EXPECT_EQ(Token(kLocal), "ty_admin (/data/admin-token)");
  EXPECT_EQ(Token("https://127.0.0.1:8471/"), "ty_admin (/data/admin-token)");
  EXPECT_EQ(Token("https://yard:1"), "ty_login (trainyard auth login)");
  variables_["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "ty_gcloud";
  EXPECT_EQ(Token(kLocal), "ty_gcloud (CLOUDSDK_AUTH_ACCESS_TOKEN)");
  variables_["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] = file_;
  EXPECT_EQ(Token(kLocal), "ty_file (CLOUDSDK_AUTH_ACCESS_TOKEN_FILE)");
  variables_["TRAINYARD_TOKEN_FILE"] = file_;
  EXPECT_EQ(Token("https://yard:1"), "ty_file (TRAINYARD_TOKEN_FILE)");
  variables_["TRAINYARD_TOKEN"] = "ty_own\n";
  EXPECT_EQ(Token(kLocal), "ty_own (TRAINYARD_TOKEN)");
  arguments_.flags["--access-token-file"] = {file_};
  EXPECT_EQ(Token(kLocal), "ty_file (--access-token-file)");
}

TEST_F(FindTokenTest, KeptOnesGoToTheirOwnServerAlone) {
  EXPECT_EQ(Token("http://127.0.0.1:9999"), " ()");
  EXPECT_EQ(Token("https://yard:11"), " ()");
  EXPECT_EQ(Token("http://yard:1"), " ()");
  files_["/data/run/server.json"] = R"({"url": "http://127.0.0.1:8470", "auth": false})";
  EXPECT_EQ(Token(kLocal), " ()") << "it asks nobody";
  files_.erase("/data/admin-token");
  EXPECT_EQ(Token(kLocal), " ()");
}

TEST_F(FindTokenTest, ANamedFileMustBeThere) {
  variables_["TRAINYARD_TOKEN_FILE"] = folder_.path() + "/none";
  EXPECT_TRUE(Token(kLocal).starts_with("Cannot read the token that TRAINYARD_TOKEN_FILE names: "));
  std::ofstream(file_, std::ios::trunc) << "\n";
  variables_["TRAINYARD_TOKEN_FILE"] = file_;
  EXPECT_TRUE(Token(kLocal).ends_with("is empty"));
}

TEST_F(FindTokenTest, TheServerOfADataDirectory) {
  arguments_.flags["--data"] = {"/data"};
  EXPECT_EQ(ServerOf(arguments_, sources_)->value, kLocal);
  arguments_.flags["--data"] = {"/none"};
  EXPECT_EQ(ServerOf(arguments_, sources_).error().code, Code::kNotFound);
  arguments_.flags["--server"] = {"http://other"};
  EXPECT_EQ(ServerOf(arguments_, sources_)->value, "http://other");
  EXPECT_EQ(FindServer(sources_, std::nullopt).value, "https://yard:1") << "the active login";
}

}  // namespace
}  // namespace trainyard::cli
