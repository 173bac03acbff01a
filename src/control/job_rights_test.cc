#include "control/job_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/iam/principal.h"
#include "rules/iam/roles.h"

namespace trainyard::control {
namespace {

using testing::ElementsAre;

constexpr char kAnn[] = "user:ann@example.com";
constexpr char kTrainer[] = "serviceAccount:trainer@p.iam.gserviceaccount.com";
constexpr char kCancel[] = "ml.jobs.cancel";
const iam::PolicyIndex::HasBasicRole kNoBasicRole = [](std::string_view, std::string_view) { return false; };

v1::JobRecord JobOf(const std::string& creator, const std::string& account_id = "") {
  v1::JobRecord job;
  job.set_creator(creator);
  job.set_creator_account_id(account_id);
  job.set_revision(7);
  return job;
}

bool May(const v1::JobRecord& job, std::string_view who, bool is_member = true,
         const Accounts& accounts = {}) {
  const Asker asker{.principal = who, .is_member = is_member, .has_basic_role = kNoBasicRole};
  const JobStanding standing = StandingOn(job, asker, kCancel, accounts);
  EXPECT_EQ(standing.is_granted, standing.is_seen);
  return standing.is_granted;
}

/// The account of that name has this id now.
Accounts Now(const std::string& id) {
  return {.id_of = [id](std::string_view) { return id; },
          .is = [id](std::string_view, std::string_view had) { return had == id; }};
}

iam::v1::SetIamPolicyRequest Bind(const std::string& member, std::string_view role = iam::kJobOwner) {
  iam::v1::SetIamPolicyRequest request;
  auto& binding = *request.mutable_policy()->add_bindings();
  binding.set_role(std::string(role));
  binding.add_members(member);
  return request;
}

void Set(v1::JobRecord& job, const iam::v1::SetIamPolicyRequest& request, const Accounts& accounts = {}) {
  const auto set = PolicySetOf(job, request, accounts);
  ASSERT_TRUE(set) << set.error().message;
  *job.mutable_iam_policy() = set->policy();
  *job.mutable_policy_account_ids() = set->account_ids();
  job.set_policy_has_creator(set->has_creator());
}

TEST(JobRights, TheCreatorIsBoundAndSeen) {
  const v1::JobRecord job = JobOf(kAnn);
  const iam::v1::Policy policy = PolicyOf(job, {});
  ASSERT_EQ(policy.bindings_size(), 1);
  EXPECT_EQ(policy.bindings(0).role(), "roles/ml.jobOwner");
  EXPECT_THAT(policy.bindings(0).members(), ElementsAre(kAnn));
  EXPECT_TRUE(May(job, kAnn));
  EXPECT_FALSE(May(job, "user:bob@example.com"));
  EXPECT_EQ(PolicyOf(JobOf(""), {}).bindings_size(), 0) << "nobody was asked who they are";
}

TEST(JobRights, AnExMemberOwnsNothing) {
  v1::JobRecord job = JobOf(kAnn);
  EXPECT_FALSE(May(job, kAnn, false));
  Set(job, Bind(kAnn));
  EXPECT_FALSE(May(job, kAnn, false)) << "written out by a client that read the policy";
  EXPECT_TRUE(May(job, kAnn));
  Set(job, Bind("user:guest@example.com"));
  EXPECT_TRUE(May(job, "user:guest@example.com", false)) << "who was given it need be no member";
}

TEST(JobRights, AnExMemberIsNotLetInByAnotherNameOfTheirs) {
  v1::JobRecord job = JobOf(kAnn);
  Set(job, Bind("user:ANN@Example.com"));
  EXPECT_FALSE(May(job, kAnn, false));
  EXPECT_TRUE(May(job, kAnn));
  EXPECT_THAT(job.iam_policy().bindings(0).members(), ElementsAre(kAnn));
  Set(job, Bind(kAnn, "roles/ml.admin"));
  EXPECT_FALSE(May(job, kAnn, false)) << "any role that a creator gave themselves before they left";
}

TEST(JobRights, ALettersCaseMakesNoOtherAccount) {
  v1::JobRecord job = JobOf(kAnn);
  Set(job, Bind("serviceAccount:Trainer@p.iam.gserviceaccount.com"), Now("1"));
  EXPECT_THAT(job.iam_policy().bindings(0).members(), ElementsAre(kTrainer));
  EXPECT_TRUE(May(job, kTrainer, true, Now("1")));
  EXPECT_FALSE(May(job, kTrainer, true, Now("2")));
}

TEST(JobRights, TheBindingCanBeTakenOut) {
  v1::JobRecord job = JobOf(kAnn);
  Set(job, Bind("user:bob@example.com"));
  EXPECT_FALSE(May(job, kAnn));
  EXPECT_TRUE(May(job, "user:bob@example.com"));
}

TEST(JobRights, APolicyFromBeforeKeepsTheCreator) {
  v1::JobRecord job = JobOf(kAnn);
  *job.mutable_iam_policy() = Bind("user:bob@example.com").policy();
  EXPECT_TRUE(May(job, kAnn));
  EXPECT_THAT(PolicyOf(job, {}).bindings(0).members(), ElementsAre("user:bob@example.com", kAnn));
}

TEST(JobRights, AnAccountOfTheSameNameIsAnother) {
  v1::JobRecord job = JobOf(kTrainer, "1");
  EXPECT_TRUE(May(job, kTrainer, true, Now("1")));
  EXPECT_FALSE(May(job, kTrainer, true, Now("2")));
  EXPECT_THAT(PolicyOf(job, Now("2")).bindings(0).members(),
              ElementsAre("deleted:" + std::string(kTrainer) + "?uid=1"));

  v1::JobRecord other = JobOf(kAnn);
  Set(other, Bind(kTrainer), Now("1"));
  EXPECT_TRUE(May(other, kTrainer, true, Now("1")));
  EXPECT_FALSE(May(other, kTrainer, true, Now("2")));
  // A client can write back what it has read; the deleted account still has no rights.
  iam::v1::SetIamPolicyRequest again;
  *again.mutable_policy() = PolicyOf(other, Now("2"));
  Set(other, again, Now("2"));
  EXPECT_FALSE(May(other, kTrainer, true, Now("2")));
}

}  // namespace
}  // namespace trainyard::control
