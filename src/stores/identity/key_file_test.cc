#include "stores/identity/rsa_key.h"

#include <gtest/gtest.h>

#include "base/wire/json_tree.h"

namespace trainyard::identity {
namespace {

v1::ServiceAccount Account() {
  v1::ServiceAccount account;
  account.set_project_id("p");
  account.set_email("trainer@p.iam.gserviceaccount.com");
  account.set_unique_id("123456789012345678901");
  return account;
}

TEST(KeyFile, HasWhatClientsRead) {
  EXPECT_EQ(
      PrintKeyFile(Account(), "abc", "-----BEGIN\nx\n", {.url = "https://yard:8443", .universe_domain = ""}),
      R"({
  "type": "service_account",
  "project_id": "p",
  "private_key_id": "abc",
  "private_key": "-----BEGIN\nx\n",
  "client_email": "trainer@p.iam.gserviceaccount.com",
  "client_id": "123456789012345678901",
  "auth_uri": "https://yard:8443/o/oauth2/auth",
  "token_uri": "https://yard:8443/token",
  "auth_provider_x509_cert_url": "https://yard:8443/oauth2/v1/certs",
  "client_x509_cert_url": "https://yard:8443/robot/v1/metadata/x509/trainer%40p.iam.gserviceaccount.com",
  "universe_domain": "googleapis.com"
}
)");
}

TEST(KeyFile, NamesTheUniverse) {
  const std::string text =
      PrintKeyFile(Account(), "abc", "x", {.url = "https://yard", .universe_domain = "yard.example:8443"});
  EXPECT_TRUE(wire::ParseJsonTree(text));
  EXPECT_NE(text.find("\"universe_domain\": \"yard.example:8443\""), std::string::npos);
}

}  // namespace
}  // namespace trainyard::identity
