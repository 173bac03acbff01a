#include "rules/kubernetes/object_name.h"

#include <gtest/gtest.h>

namespace trainyard::kubernetes::object_name_test {
namespace {

const Submission kSubmission{.gang = {.job_uid = 17, .try_number = 1}, .number = 2};

TEST(ObjectName, SaysWhichSubmissionAndSlot) {
  EXPECT_EQ(GangLabel(kSubmission), "17-1-2");
  EXPECT_EQ(SecretName("1f3a90c2", kSubmission), "ty-1f3a90c2-17-1-2");
  EXPECT_EQ(PodName("1f3a90c2", kSubmission, 0), "ty-1f3a90c2-17-1-2-0");
}

TEST(ObjectName, IsReadAgain) {
  for (const int slot : {0, 9, 1499})
    EXPECT_EQ(ParsePodName("1f3a", PodName("1f3a", kSubmission, slot)),
              (SlotName{.submission = kSubmission, .slot = slot}));
  EXPECT_EQ(ParseSecretName("1f3a", SecretName("1f3a", kSubmission)), kSubmission);
}

class ForeignName : public testing::TestWithParam<const char*> {};
TEST_P(ForeignName, IsNotOurs) {
  EXPECT_EQ(ParsePodName("1f3a", GetParam()), std::nullopt);
  EXPECT_EQ(ParseSecretName("1f3a", GetParam()), std::nullopt);
}
INSTANTIATE_TEST_SUITE_P(Names, ForeignName,
                         testing::Values("", "ty-1f3a-", "ty-1f3b-17-1-2-0", "ty-1f3a-17-1",
                                         "ty-1f3a-17-1-2-", "ty-1f3a-017-1-2-0", "ty-1f3a-17-1-2-00",
                                         "ty-1f3a-17-1-2-0-x", "ty-1f3a-17-1-0-0", "ty-1f3a-17-1-2-+1",
                                         "nginx-7f9c"));

TEST(ObjectName, ASecretIsNoPod) {
  EXPECT_EQ(ParsePodName("1f3a", SecretName("1f3a", kSubmission)), std::nullopt);
  EXPECT_EQ(ParseSecretName("1f3a", PodName("1f3a", kSubmission, 3)), std::nullopt);
}

}  // namespace
}  // namespace trainyard::kubernetes::object_name_test
