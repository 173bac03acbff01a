#include "front/boto_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::front {
namespace {

using testing::HasSubstr;

TEST(BotoFile, NamesTheBundleAndTheProject) {
  const std::string text = BotoFile("/data/front/ca-bundle.pem", "census");
  EXPECT_THAT(text, HasSubstr("[Boto]\nca_certificates_file = /data/front/ca-bundle.pem\n"));
  EXPECT_THAT(text, HasSubstr("\ndefault_project_id = census\nstate_dir = /tmp/.gsutil\n"));
}

}  // namespace
}  // namespace trainyard::front
