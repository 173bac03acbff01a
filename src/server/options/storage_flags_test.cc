#include "server/options/flag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::server::storage_flags_test {
namespace {

Result<RetentionOptions> Read(std::vector<std::string> words) {
  auto options = ReadServeFlags(words);
  if (!options) return std::unexpected(options.error());
  return (*options)->retention;
}

TEST(StorageFlags, HaveThePolicysDefaults) {
  const RetentionOptions options = Read({}).value();
  const retention::Policy policy;
  EXPECT_EQ(options.policy.jobs, policy.jobs);
  EXPECT_EQ(options.policy.logs, policy.logs);
  EXPECT_EQ(options.policy.scratch, policy.scratch);
  EXPECT_EQ(options.policy.environments, policy.environments);
  EXPECT_EQ(options.policy.environments_bytes, std::nullopt);
  EXPECT_EQ(options.marks.queue_below, retention::kQueueBelowDefault);
  EXPECT_EQ(options.marks.refuse_below, retention::kRefuseBelowDefault);
}

TEST(StorageFlags, AreRead) {
  const RetentionOptions options =
      Read({"--keep-jobs", "never", "--keep-logs=2s", "--keep-scratch=1h", "--keep-environments=5m",
            "--environments-max-gb=1.5", "--queue-below-free=2GB", "--refuse-below-free=0"})
          .value();
  EXPECT_EQ(options.policy.jobs, std::nullopt);
  EXPECT_EQ(options.policy.logs, std::chrono::seconds(2));
  EXPECT_EQ(options.policy.scratch, std::chrono::hours(1));
  EXPECT_EQ(options.policy.environments, std::chrono::minutes(5));
  EXPECT_EQ(options.policy.environments_bytes, 1'500'000'000);
  EXPECT_EQ(options.marks.queue_below, 2'000'000'000);
  EXPECT_EQ(options.marks.refuse_below, 0);
}

TEST(StorageFlags, NameWhatIsWrong) {
  EXPECT_EQ(Read({"--keep-jobs=0d"}).error(),
            InvalidArgument("--keep-jobs",
                            "'0d' is no time to keep it, as 90d, 12h, 30m, 45s (1s to 36500d) or never"));
  EXPECT_EQ(
      Read({"--queue-below-free=lots"}).error(),
      InvalidArgument("--queue-below-free", "'lots' is not a size such as 512MiB, 2GB or 0 (no limit)"));
  EXPECT_EQ(
      Read({"--queue-below-free=1MiB"}).error(),
      InvalidArgument("--queue-below-free",
                      "'1MiB' is less than --refuse-below-free (256MiB); it must be at least as large"));
}

}  // namespace
}  // namespace trainyard::server::storage_flags_test
