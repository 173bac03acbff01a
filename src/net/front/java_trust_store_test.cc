#include "net/front/java_trust_store.h"

#include <gtest/gtest.h>

#include "base/text/hex.h"

namespace trainyard::front {
namespace {

std::string HexOf(std::string_view bundle) {
  const Result<std::string> store = JavaTrustStore(bundle);
  return store ? text::Hex(*store) : store.error().message;
}

// Made by another program from the format's description; tests/e2e/test_clients_with.py asks Java itself.
TEST(JavaTrustStore, HasTheBundlesCertificatesInOrder) {
  EXPECT_EQ(HexOf("# a name\n-----BEGIN CERTIFICATE-----\nAQ\nID\n-----END CERTIFICATE-----\n"
                  "-----BEGIN CERTIFICATE-----\r\nBA==\r\n-----END CERTIFICATE-----\r\n"),
            "feedfeed000000020000000200000002000b617574686f726974792d300000000000000000000558"
            "2e3530390000000301020300000002000b617574686f726974792d3100000000000000000005582e"
            "3530390000000104f1b526084b5e199148780be932d85356a1a0c755");
}

TEST(JavaTrustStore, LeavesOutWhatIsNoCertificate) {
  const std::string empty = HexOf("");
  EXPECT_EQ(empty.substr(0, 24), "feedfeed0000000200000000");
  for (const char* bundle :
       {"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nAQID\n"})
    EXPECT_EQ(HexOf(bundle), empty) << bundle;
}

}  // namespace
}  // namespace trainyard::front
