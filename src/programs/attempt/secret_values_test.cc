#include "programs/attempt/attempt_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace trainyard::replica {
namespace {

TEST(SecretValues, TravelBesideTheManifest) {
  v1::Manifest manifest;
  (*manifest.mutable_environment())["PLAIN"] = "p";
  (*manifest.mutable_environment())["TOKEN"] = "hunter2=\nsecond line";
  (*manifest.mutable_environment())["KEY"] = std::string(10'000, 'k');
  manifest.add_secrets("TOKEN");
  manifest.add_secrets("KEY");
  const v1::Manifest whole = manifest;
  const auto file = TakeSecretValues(manifest);
  ASSERT_TRUE(file);
  EXPECT_EQ(manifest.SerializeAsString().find("hunter2"), std::string::npos);
  EXPECT_EQ(manifest.environment().size(), 1U);
  ASSERT_TRUE(ReadSecretValues(file->get(), manifest));
  EXPECT_EQ(manifest.DebugString(), whole.DebugString());
}

TEST(SecretValues, AreNotAskedForWhereThereAreNone) {
  v1::Manifest manifest;
  const auto file = TakeSecretValues(manifest);
  ASSERT_TRUE(file);
  EXPECT_FALSE(*file);
  EXPECT_TRUE(ReadSecretValues(-1, manifest));
}

TEST(SecretValues, ThatAreMissingAreAnError) {
  v1::Manifest manifest;
  manifest.add_secrets("TOKEN");
  EXPECT_EQ(TakeSecretValues(manifest).error().code, Code::kInternal);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ReadSecretValues(nothing, manifest).error(),
            (Error{Code::kDataLoss, "the supervisor was not given the secret TOKEN", {}}));
  close(nothing);
}

}  // namespace
}  // namespace trainyard::replica
