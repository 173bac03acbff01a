#include "rules/placement/quota.h"

#include <gmock/gmock.h>

namespace trainyard::placement {
namespace {

Result<Quotas> Parse(std::vector<std::string> texts) { return Quotas::Parse(texts); }

struct Row {
  const char* name;
  const char* text;
  std::int64_t limit;
  const char* subject;
  const char* resource;
};
class QuotaParse : public testing::TestWithParam<Row> {};
TEST_P(QuotaParse, Reads) {
  const auto quotas = Parse({GetParam().text});
  ASSERT_TRUE(quotas) << quotas.error().message;
  EXPECT_EQ(quotas->Of(GetParam().subject, GetParam().resource).value_or(QuotaLimit{}).limit,
            GetParam().limit);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, QuotaParse,
    testing::Values(
        Row{"gpus", "project:research:gpus=4", 4, "project:research", "gpus"},
        Row{"type", "project:research:nvidia-tesla-t4=2", 2, "project:research", "nvidia-tesla-t4"},
        Row{"none", "project:research:jobs=0", 0, "project:research", "jobs"},
        Row{"user", "user:ann@example.com:jobs=8", 8, "user:ann@example.com", "jobs"},
        Row{"account", "serviceAccount:a@p.iam:unfinished-jobs=1", 1, "serviceAccount:a@p.iam",
            "unfinished-jobs"},
        Row{"each", "user:*:jobs=8", 8, "user:bob@example.com", "jobs"},
        Row{"binary", "project:*:bucket-bytes=2TiB", std::int64_t{2} << 40, "project:p", "bucket-bytes"},
        Row{"decimal", "project:p:log-bytes=10GB", 10'000'000'000, "project:p", "log-bytes"},
        Row{"bare", "project:p:log-bytes=1000", 1000, "project:p", "log-bytes"}),
    [](const auto& row) { return row.param.name; });

struct WrongRow {
  const char* name;
  const char* text;
  const char* why;
};
class QuotaRefuses : public testing::TestWithParam<WrongRow> {};
TEST_P(QuotaRefuses, NamesWhatIsWrong) {
  const auto quotas = Parse({"project:twice:gpus=1", GetParam().text});
  ASSERT_FALSE(quotas);
  EXPECT_EQ(quotas.error(),
            InvalidArgument("--quota", "'" + std::string(GetParam().text) + "': " + GetParam().why));
}
constexpr const char* kNumber = "'four' is not a number";
constexpr const char* kForm = "not SUBJECT:RESOURCE=N, as project:research:gpus=4";
INSTANTIATE_TEST_SUITE_P(
    Rules, QuotaRefuses,
    testing::Values(
        WrongRow{"no_number", "project:p:gpus=four", kNumber},
        WrongRow{"negative", "project:p:gpus=-1", "'-1' is not a number"},
        WrongRow{"unit_of_count", "project:p:gpus=4GB", "'4GB' is not a number"},
        WrongRow{"unit", "project:p:log-bytes=4XB", "'4XB' is not a number of bytes, as 1000, 10GB or 1TiB"},
        WrongRow{"too_many_bytes", "project:p:log-bytes=9999999999TiB",
                 "'9999999999TiB' is not a number of bytes, as 1000, 10GB or 1TiB"},
        WrongRow{"no_equals", "project:p:gpus", kForm}, WrongRow{"no_resource", "gpus=4", kForm},
        WrongRow{"kind", "projekt:p:gpus=4",
                 "'projekt' is not one of project, user, serviceAccount; did you mean 'project'?"},
        WrongRow{"no_name", "project::gpus=4", "there is no name after 'project:'; * means each one"},
        WrongRow{"pattern", "project:a*:gpus=4", "* stands alone: project:*"},
        WrongRow{"resource", "project:p:gpu=4",
                 "'gpu' is not one of gpus, jobs, unfinished-jobs, bucket-bytes, log-bytes or a type such as "
                 "nvidia-tesla-t4; did you mean 'gpus'?"},
        WrongRow{"bytes_of_a_user", "user:ann:bucket-bytes=1GB",
                 "bucket-bytes are a project's: project:NAME:bucket-bytes=N"},
        WrongRow{"twice", "project:twice:gpus=2", "project:twice has a quota of gpus already"},
        WrongRow{"engine", "project:p:gpus@slum=2",
                 "'slum' is not one of local, slurm, kubernetes; did you mean 'slurm'?"},
        WrongRow{"no_engine", "project:p:gpus@=2", "'' is not one of local, slurm, kubernetes"},
        WrongRow{"two_engines", "project:p:gpus@local@slurm=2",
                 "'local@slurm' is not one of local, slurm, kubernetes; did you mean 'slurm'?"},
        WrongRow{"unfinished_of_an_engine", "user:ann@example.com:unfinished-jobs@slurm=2",
                 "unfinished-jobs are the same on all engines: leave out '@slurm'"},
        WrongRow{"bytes_of_an_engine", "project:p:log-bytes@local=2",
                 "log-bytes are the same on all engines: leave out '@local'"}),
    [](const auto& row) { return row.param.name; });

TEST(Quotas, OwnOnesComeBeforeThoseOfEach) {
  const auto quotas = Parse({"project:*:gpus=2", "project:research:gpus=8", "project:*:jobs=3"});
  ASSERT_TRUE(quotas);
  EXPECT_EQ(quotas->Of("project:research", "gpus"), (QuotaLimit{8, "project:research", "gpus"}));
  EXPECT_EQ(quotas->Of("project:other", "gpus")->Text(), "project:*:gpus=2");
  EXPECT_EQ(quotas->Of("user:ann", "gpus"), std::nullopt);
  EXPECT_EQ(quotas->Of("", "gpus"), std::nullopt);
  EXPECT_THAT(
      quotas->AllOf("project:research"),
      testing::ElementsAre(QuotaLimit{8, "project:research", "gpus"}, QuotaLimit{3, "project:*", "jobs"}));
  EXPECT_TRUE(quotas->Limits("jobs"));
  EXPECT_FALSE(quotas->Limits("log-bytes"));
}

TEST(Quotas, ThatOfAnEngineWinsThere) {
  const auto quotas = Parse({"project:*:gpus=2", "project:*:gpus@slurm=16", "project:research:gpus@local=1",
                             "project:big:gpus=64", "project:*:jobs@slurm=5"});
  ASSERT_TRUE(quotas);
  EXPECT_EQ(quotas->Of("project:p", "gpus", kLocalEngine)->Text(), "project:*:gpus=2");
  EXPECT_EQ(quotas->Of("project:p", "gpus", kSlurmEngine)->Text(), "project:*:gpus@slurm=16");
  EXPECT_EQ(quotas->Of("project:research", "gpus", kLocalEngine)->Text(), "project:research:gpus@local=1");
  EXPECT_EQ(quotas->Of("project:research", "gpus", kSlurmEngine)->limit, 16);
  EXPECT_EQ(quotas->Of("project:big", "gpus", kSlurmEngine)->limit, 64)
      << "its own comes before that of each";
  EXPECT_EQ(quotas->Of("project:p", "jobs", kLocalEngine), std::nullopt);
  EXPECT_THAT(quotas->AllOf("project:big"),
              testing::ElementsAre(QuotaLimit{64, "project:big", "gpus"},
                                   QuotaLimit{5, "project:*", "jobs", "slurm"}));
  EXPECT_THAT(quotas->AllOf("project:research"),
              testing::ElementsAre(QuotaLimit{2, "project:*", "gpus"},  // on Kubernetes
                                   QuotaLimit{1, "project:research", "gpus", "local"},
                                   QuotaLimit{16, "project:*", "gpus", "slurm"},
                                   QuotaLimit{5, "project:*", "jobs", "slurm"}));
}

TEST(Quotas, HoldBackWhereTheyLimitWhatJobsHold) {
  EXPECT_TRUE(Parse({"user:*:nvidia-tesla-t4=2"})->HoldBackOn(kSlurmEngine));
  EXPECT_TRUE(Parse({"user:*:jobs@slurm=2"})->HoldBackOn(kSlurmEngine));
  EXPECT_FALSE(Parse({"user:*:jobs@local=2"})->HoldBackOn(kSlurmEngine));
  EXPECT_FALSE(Parse({"user:*:unfinished-jobs=2", "project:*:log-bytes=1GB"})->HoldBackOn(kSlurmEngine));
}

TEST(Quotas, SayBytesAsPeopleReadThem) {
  EXPECT_EQ(BytesText(900), "900 bytes");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(std::int64_t{1} << 40), "1 TiB");
  EXPECT_EQ(ParseByteCount("1TiB"), std::int64_t{1} << 40);
  EXPECT_EQ(ParseByteCount("1 TiB"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::placement
