#include "net/front/ca_bundle.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/async/file.h"
#include "base/text/hex.h"

namespace trainyard::front {
namespace {

namespace fs = std::filesystem;

class CaBundleTest : public testing::Test {
 protected:
  CaBundleTest() {
    std::string name = fs::temp_directory_path() / "trainyard-front-XXXXXX";
    folder_ = mkdtemp(name.data());
    EXPECT_TRUE(WriteFileAtomically(folder_ / "own.pem", "ours\n"));
  }
  ~CaBundleTest() override { fs::remove_all(folder_); }
  std::string Make(const std::vector<std::string>& system) {
    EXPECT_TRUE(MakeCaBundle(system, folder_ / "own.pem", folder_ / "bundle.pem"));
    return ReadFile(folder_ / "bundle.pem").value_or("");
  }

  fs::path folder_;
};

TEST_F(CaBundleTest, IsTheFirstOfTheSystemsAndOurs) {
  EXPECT_TRUE(WriteFileAtomically(folder_ / "second", "theirs"));
  EXPECT_TRUE(WriteFileAtomically(folder_ / "third", "not this\n"));
  EXPECT_EQ(Make({folder_ / "first", folder_ / "second", folder_ / "third"}), "theirs\nours\n");
}

TEST_F(CaBundleTest, IsOursAloneOnAMachineWithoutAuthorities) {
  EXPECT_EQ(Make({folder_ / "first"}), "ours\n");
}

TEST_F(CaBundleTest, IsLeftAloneWhileNothingChanged) {
  Make({});
  struct stat before{};
  stat((folder_ / "bundle.pem").c_str(), &before);
  Make({});
  struct stat after{};
  stat((folder_ / "bundle.pem").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_TRUE(WriteFileAtomically(folder_ / "own.pem", "renewed\n"));
  EXPECT_EQ(Make({}), "renewed\n");
}

TEST_F(CaBundleTest, NeedsOurs) {
  fs::remove(folder_ / "own.pem");
  EXPECT_FALSE(MakeCaBundle({}, folder_ / "own.pem", folder_ / "bundle.pem"));
}

std::string HexOf(std::string_view bundle) {
  const Result<std::string> store = JavaTrustStore(bundle, kJavaPassword);
  return store ? text::Hex(*store) : store.error().message;
}

// Made by another program from the format's description; tests/e2e/test_clients_of_any_age.py asks Java
// itself.
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
