#include "base/tls/sha256.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/async/unique_fd.h"

namespace trainyard::tls {
namespace {

// Source: FIPS 180-4, examples of SHA-256.
constexpr const char* kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, OfBytes) {
  EXPECT_EQ(Sha256Hex(""), kOfNothing);
  EXPECT_EQ(Sha256Hex("abc"), kOfAbc);
}

TEST(Sha256, OfAFileFromItsBeginning) {
  char name[] = "/tmp/sha256_test.XXXXXX";
  const UniqueFd file(::mkstemp(name));
  ASSERT_TRUE(file);
  ::unlink(name);
  ASSERT_EQ(::write(file.get(), "abc", 3), 3);
  EXPECT_EQ(Sha256HexOfFile(file.get()).value_or(""), kOfAbc);
  EXPECT_EQ(Sha256HexOfFile(-1).error().code, ErrnoError(EBADF, "").code);
}

}  // namespace
}  // namespace trainyard::tls
