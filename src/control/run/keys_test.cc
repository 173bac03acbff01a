#include "control/run/keys.h"

#include <gtest/gtest.h>

#include <set>

namespace trainyard::control {
namespace {

TEST(Keys, OnePerPurposeAndInstallation) {
  const Keys keys = Keys::Derive("secret");
  const Keys other = Keys::Derive("another");
  std::set<std::string> all;
  for (const Keys& each : {keys, other})
    all.insert({each.attempt, each.metadata_host, each.access, each.shell, each.ports});
  EXPECT_EQ(all.size(), 10U);
  EXPECT_EQ(keys.access, Keys::Derive("secret").access) << "a restart changes nothing";
}

TEST(Keys, AMacIsThatOfRfc4231) {
  EXPECT_EQ(Mac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Keys, ComparesWholeTexts) {
  EXPECT_TRUE(IsSame("ab", "ab"));
  for (const char* text : {"", "a", "abc", "ac"}) EXPECT_FALSE(IsSame(text, "ab")) << text;
}

}  // namespace
}  // namespace trainyard::control
