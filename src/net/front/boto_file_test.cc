#include "net/front/boto_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::front {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BotoFile, NamesTheBundleAndTheProject) {
  const std::string text =
      BotoFile({.ca_bundle = "/data/front/ca-bundle.pem", .project = "census", .state_dir = "/tmp/.gsutil"});
  EXPECT_THAT(text, HasSubstr("[Boto]\nca_certificates_file = /data/front/ca-bundle.pem\n"));
  EXPECT_THAT(text, HasSubstr("\ndefault_project_id = census\nstate_dir = /tmp/.gsutil\n"));
  EXPECT_THAT(text, Not(HasSubstr("_host")));
}

TEST(BotoFile, NamesTheServerWhereGooglesNamesAreGoogles) {
  EXPECT_EQ(BotoFile({.ca_bundle = "/ca", .project = "p", .host = "localhost", .port = "8471"}),
            "[Credentials]\ngs_host = localhost\ngs_json_host = localhost\n"
            "gs_port = 8471\ngs_json_port = 8471\n\n"
            "[Boto]\nca_certificates_file = /ca\nhttps_validate_certificates = True\n\n"
            "[GoogleCompute]\nservice_account = default\n\n"
            "[GSUtil]\ndefault_project_id = p\nsoftware_update_check_period = 0\n");
}

TEST(BotoFile, LogsInWithAToken) {
  const std::string text =
      BotoFile({.ca_bundle = "/ca", .project = "p", .token = "ty_x", .token_uri = "https://yard:8443/token"});
  EXPECT_THAT(text, HasSubstr("[Credentials]\ngs_oauth2_refresh_token = ty_x\n\n[Boto]\n"));
  EXPECT_THAT(text, HasSubstr("[OAuth2]\nprovider_token_uri = https://yard:8443/token\n"));
  EXPECT_THAT(text, Not(HasSubstr("GoogleCompute")));
}

}  // namespace
}  // namespace trainyard::front
