#include "control/intake/account_rights.h"

#include <set>

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

const std::string kTrainer = "trainer@p.iam.gserviceaccount.com";

/// One account, with these permissions on every bucket.
Accounts Having(std::set<std::string, std::less<>> permissions) {
  return {.exists = [](std::string_view email) { return email == kTrainer; },
          .may = [permissions = std::move(permissions)](
                     std::string_view email, std::string_view permission,
                     const iam::Resource&) { return email == kTrainer && permissions.contains(permission); }};
}

TEST(AccountRights, AnAccountThatDoesNotExistIsRefusedWithTheCommandThatMakesIt) {
  EXPECT_TRUE(CheckAccountExists(Having({}), kTrainer));
  EXPECT_TRUE(CheckAccountExists({}, "anybody@x"));
  EXPECT_EQ(CheckAccountExists(Having({}), "trainr@p.iam.gserviceaccount.com").error(),
            (Error{.code = Code::kNotFound,
                   .message = "Unknown service account: trainr@p.iam.gserviceaccount.com. Create it with: "
                              "gcloud iam service-accounts create trainr --project=p",
                   .field = "service_account"}));
  EXPECT_EQ(CheckAccountExists(Having({}), "x@elsewhere.com").error().message,
            "Unknown service account: x@elsewhere.com.");
}

TEST(AccountRights, ThePackageMustBeReadable) {
  EXPECT_TRUE(
      CheckAccountReads(Having({"storage.objects.get"}), kTrainer, "gs://b/t.tar.gz", "b", "package_uris"));
  EXPECT_EQ(CheckAccountReads(Having({}), kTrainer, "gs://b/t.tar.gz", "b", "package_uris").error(),
            FailedPrecondition("The provided GCS paths [gs://b/t.tar.gz] cannot be read by service account " +
                                   kTrainer +
                                   ". An administrator gives it that right with: gcloud storage buckets "
                                   "add-iam-policy-binding gs://b --member=serviceAccount:" +
                                   kTrainer + " --role=roles/storage.objectViewer",
                               "package_uris"));
}

TEST(AccountRights, TheJobDirMustBeWritable) {
  const iam::Resource bucket = iam::Resource::Bucket("b");
  EXPECT_TRUE(CheckAccountWrites(Having({"storage.objects.get", "storage.objects.list",
                                         "storage.objects.create", "storage.objects.delete"}),
                                 kTrainer, "b", bucket));
  EXPECT_EQ(
      CheckAccountWrites(Having({"storage.objects.get", "storage.objects.list"}), kTrainer, "b", bucket)
          .error(),
      FailedPrecondition("The job's programs run as the service account " + kTrainer +
                             ", which may not read and write objects of gs://b. An administrator gives it "
                             "that right with: gcloud storage buckets add-iam-policy-binding gs://b "
                             "--member=serviceAccount:" +
                             kTrainer + " --role=roles/storage.objectAdmin",
                         "job_dir"));
}

class AccountsOfJobs : public World {
 protected:
  Result<v1::JobRecord> Make(const std::string& account, const std::string& job_dir,
                             std::set<std::string, std::less<>> permissions) {
    JobMaker maker(*buckets_, catalogue_, clock_,
                   {.runtime_default = "2.15",
                    .pythons = {{{"3.11", "/usr/bin/python3"}}},
                    .capacity = capacity_,
                    .accounts = Having(std::move(permissions))});
    Creator creator{.principal = "user:ann@example.com"};
    creator.require = [](std::string, iam::Resource) -> boost::asio::awaitable<Status> {
      co_return Status();
    };
    Job job = MakeJob("j");
    job.mutable_training_input()->set_service_account(account);
    job.mutable_training_input()->set_job_dir(job_dir);
    return RecordOf(Await(maker.Make("p", std::move(job), std::move(creator))));
  }
};

TEST_F(AccountsOfJobs, ANamedAccountIsCheckedBeforeAnythingIsMade) {
  EXPECT_EQ(Make("absent@p.iam.gserviceaccount.com", "", {}).error().field, "service_account");
  EXPECT_EQ(Make(kTrainer, "", {}).error().field, "package_uris");
  EXPECT_EQ(Make(kTrainer, "gs://new-bucket/out", {"storage.objects.get"}).error().field, "job_dir");
  EXPECT_EQ(Await(buckets_->GetBucket("new-bucket")).error().code, Code::kNotFound);
  EXPECT_TRUE(Make(kTrainer, "", {"storage.objects.get"}));
}

TEST_F(AccountsOfJobs, OfTheProjectsAccountTheLogSaysWhatItLacks) {
  const Result<v1::JobRecord> record = Make("", "gs://packages/out", {});
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->warnings_size(), 1);
  EXPECT_THAT(record->warnings(0), HasSubstr("which may not read and write objects of gs://packages. "));
  EXPECT_EQ(Make("", "", {})->warnings_size(), 0);
}

}  // namespace
}  // namespace trainyard::control
