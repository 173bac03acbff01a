#include "base/fnv1a.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

// Source: draft-eastlake-fnv, appendix C.
TEST(Fnv1a, IsThatOfTheDraft) {
  EXPECT_EQ(Fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(Fnv1a("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace trainyard
