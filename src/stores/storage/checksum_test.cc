#include "stores/storage/checksum.h"

#include <gtest/gtest.h>

namespace trainyard::storage {
namespace {

Digests DigestsOf(std::string_view text) {
  Checksum checksum;
  checksum.Update(text);
  return checksum.Get();
}

// Values of RFC 3720 B.4 and RFC 1321 A.5.
TEST(Checksum, KnownValues) {
  EXPECT_EQ(DigestsOf(""), (Digests{"1B2M2Y8AsgTpgAmY7PhCfg==", "AAAAAA=="}));
  EXPECT_EQ(DigestsOf("123456789").crc32c, "4waSgw==");
  EXPECT_EQ(DigestsOf(std::string(32, '\0')).crc32c, "ipE2qg==");
  EXPECT_EQ(DigestsOf("message digest").md5_hash, "+WtpfXy3k41SWi8xqvFh0A==");
}

TEST(Checksum, GrowsByPieces) {
  Checksum checksum;
  checksum.Update("1234");
  EXPECT_EQ(checksum.Get(), DigestsOf("1234"));
  checksum.Update("");
  checksum.Update("56789");
  EXPECT_EQ(checksum.Get(), DigestsOf("123456789"));
}

}  // namespace
}  // namespace trainyard::storage
