
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/testing/temporary_folder.h"
#include "stores/metrics/usage_samples.h"

namespace trainyard::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

StoredReport Make(std::int64_t uid, int attempt, const std::string& tag, double value,
                  const std::string& trial_id = "") {
  StoredReport one{.job_uid = uid, .trial_id = trial_id, .attempt = attempt, .tag = tag, .report = {}};
  one.report.add_measurements()->set_value(value);
  return one;
}

class StoredReports : public testing::Test {
 protected:
  /// "acc 1=0.5": tag, attempt, value.
  std::vector<std::string> Texts(std::int64_t uid, const std::vector<std::string>& trials = {""}) {
    std::vector<std::string> texts;
    for (const StoredReport& one : samples_.Reports({.job_uid = uid, .trial_ids = trials}).value())
      texts.push_back(one.tag + " " + std::to_string(one.attempt) + "=" +
                      std::to_string(one.report.measurements(0).value()).substr(0, 3));
    return texts;
  }

  TemporaryFolder folder_;
  UsageSamples samples_ = UsageSamples::Open(folder_.path() + "/metrics.db").value();
};

TEST_F(StoredReports, ReplaceThoseOfTheirAttemptAndTag) {
  ASSERT_TRUE(samples_.Write({}, {{Make(1, 1, "loss", 4), Make(1, 1, "acc", 0.5), Make(2, 1, "acc", 9)}}));
  ASSERT_TRUE(samples_.Write({}, {{Make(1, 1, "acc", 0.6), Make(1, 2, "acc", 0.7)}}));
  EXPECT_THAT(Texts(1), ElementsAre("acc 1=0.6", "acc 2=0.7", "loss 1=4.0"));
  EXPECT_THAT(Texts(2), ElementsAre("acc 1=9.0"));
  EXPECT_THAT(Texts(3), IsEmpty());
}

TEST_F(StoredReports, OfTrialsAreApart) {
  ASSERT_TRUE(
      samples_.Write({}, {{Make(1, 1, "acc", 1, "1"), Make(1, 1, "acc", 2, "2"), Make(1, 1, "b", 3, "2")}}));
  EXPECT_THAT(Texts(1), IsEmpty());
  EXPECT_THAT(Texts(1, {"2"}), ElementsAre("acc 1=2.0", "b 1=3.0"));
  EXPECT_THAT(Texts(1, {"2", "1", "3"}), ElementsAre("acc 1=2.0", "b 1=3.0", "acc 1=1.0"));
}

TEST_F(StoredReports, GoWithTheirJob) {
  ASSERT_TRUE(samples_.Write({}, {{Make(1, 1, "acc", 1), Make(2, 1, "acc", 2)}}));
  ASSERT_TRUE(samples_.Erase({1}, 100));
  EXPECT_THAT(Texts(1), IsEmpty());
  EXPECT_THAT(Texts(2), ElementsAre("acc 1=2.0"));
}

TEST_F(StoredReports, AreTheNewestJobsWhereTheyAreTooMany) {
  sqlite::Database database = sqlite::Database::OpenAsItIs(folder_.path() + "/metrics.db").value();
  for (int uid = 1; uid <= 4; ++uid)
    ASSERT_TRUE(samples_.Write({}, {{Make(uid, 1, "acc", uid), Make(uid, 2, "acc", uid)}}));
  ASSERT_TRUE(PruneReports(database, 8));
  EXPECT_THAT(Texts(1), ElementsAre("acc 1=1.0", "acc 2=1.0"));
  ASSERT_TRUE(PruneReports(database, 3));
  EXPECT_THAT(Texts(2), IsEmpty());
  EXPECT_THAT(Texts(3), ElementsAre("acc 2=3.0"));
  EXPECT_THAT(Texts(4), ElementsAre("acc 1=4.0", "acc 2=4.0"));
}

TEST_F(StoredReports, AreBoundedInOneAnswer) {
  std::vector<StoredReport> many;
  for (std::int64_t i = 0; i < kReportsListedMax + 5; ++i)
    many.push_back(Make(1, 1, std::to_string(i), 1, std::to_string(i % 2)));
  ASSERT_TRUE(samples_.Write({}, many));
  EXPECT_EQ(Texts(1, {"0", "1"}).size(), static_cast<std::size_t>(kReportsListedMax));
}

}  // namespace
}  // namespace trainyard::metrics
