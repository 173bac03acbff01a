#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/result.h"

namespace trainyard {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return std::unexpected(InvalidArgument("value", "is odd"));
  return value / 2;
}

Result<int> Quarter(int value) {
  TY_TRY(int half, Half(value));
  TY_TRY(int quarter, Half(half));
  return quarter;
}

TEST(Result, TryPassesTheErrorOn) {
  EXPECT_EQ(Quarter(8), 2);
  EXPECT_EQ(Quarter(6), std::unexpected(InvalidArgument("value", "is odd")));
}

TEST(Error, ErrnoOfAFullDiskIsResourceExhausted) {
  EXPECT_EQ(ErrnoError(ENOSPC, "write /d/f"),
            (Error{Code::kResourceExhausted, "write /d/f: No space left on device", ""}));
}

TEST(Error, NamesAreThoseOfGoogleRpc) {
  EXPECT_EQ(CodeName(Code::kFailedPrecondition), "FAILED_PRECONDITION");
  EXPECT_EQ(CodeName(Code::kUnauthenticated), "UNAUTHENTICATED");
}

}  // namespace
}  // namespace trainyard
