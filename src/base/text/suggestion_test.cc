#include "base/text/suggestion.h"

#include <gtest/gtest.h>

namespace trainyard::text {
namespace {

TEST(Suggest, IsPythonsDifflib) {
  EXPECT_DOUBLE_EQ(Likeness("--help", "--py"), 0.6);
  constexpr std::string_view kChoices[] = {"--help", "--packages", "--module-name"};
  EXPECT_EQ(Suggest("--modul-name", kChoices), "--module-name");
  EXPECT_EQ(Suggest("--PACKAGE", kChoices), "--packages");
  EXPECT_EQ(Suggest("frob", kChoices), "");
  EXPECT_EQ(Suggest("", kChoices), "");
}

}  // namespace
}  // namespace trainyard::text
