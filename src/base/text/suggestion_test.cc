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

TEST(Suggest, LooksPastTheCase) {
  constexpr std::string_view kChoices[] = {"BASIC_GPU", "STANDARD_1"};
  EXPECT_EQ(Suggest("basic-gpu", kChoices), "BASIC_GPU");
  EXPECT_EQ(DidYouMean("Standard1", kChoices), "Did you mean 'STANDARD_1'?");
  EXPECT_EQ(DidYouMean("STANDARD_1", kChoices), "");
  EXPECT_EQ(DidYouMean("x", kChoices), "");
  EXPECT_EQ(Suggest("STANDARD_1" + std::string(kSuggestBytesMax, '1'), kChoices), "");
}

}  // namespace
}  // namespace trainyard::text
