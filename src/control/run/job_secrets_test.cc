#include "control/run/job_secrets.h"

#include <fstream>

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using testing::AllOf;
using testing::Each;

class JobSecretsTest : public World {
 protected:
  static Job MakeSecretJob(const std::string& job_id) {
    Job job = MakeJob(job_id);
    ml::v1::EnvVar& secret = *job.mutable_training_input()->add_env();
    secret.set_name("TOKEN");
    secret.set_value("value of " + job_id);
    secret.set_secret(true);
    return job;
  }
  /// The value of TOKEN in each attempt that was started.
  std::vector<std::string> Tokens() const {
    std::vector<std::string> tokens;
    for (const Manifest& manifest : replicas_->started()) {
      const auto token = manifest.environment().find("TOKEN");
      tokens.push_back(token == manifest.environment().end() ? "none" : token->second);
    }
    return tokens;
  }
  boost::asio::awaitable<Status> CreateAndTell(std::string job_id, std::shared_ptr<bool> answered) {
    const auto created = co_await service_->Create("p", MakeSecretJob(job_id));
    *answered = true;
    co_return created ? Status() : std::unexpected(created.error());
  }
  bool NothingIsLeft() const { return std::filesystem::is_empty(folder_ / "secrets"); }
};

TEST_F(JobSecretsTest, TheirNameIsThatOfOneCreate) {
  v1::JobRecord job;
  job.set_cluster_hash("0123456789");
  job.mutable_job()->mutable_create_time()->set_seconds(1'600'000'000);
  job.mutable_job()->mutable_create_time()->set_nanos(7);
  EXPECT_EQ(StagedName(job), "0123456789-1600000000000000007");
}

/// The server is killed after so many turns of the loop, counted from the create, or when it has answered.
TEST_F(JobSecretsTest, AKilledCreateLosesNoneOfAJobThatIsThere) {
  int there = 0;
  for (int turn = 0; turn < 40; ++turn) {
    const std::string job_id = "j" + std::to_string(turn);
    const auto answered = std::make_shared<bool>(false);
    Spawn(CreateAndTell(job_id, answered));
    loop_.context.restart();
    for (int i = 0; i < turn && !*answered; ++i) loop_.context.run_one_for(std::chrono::seconds(5));
    KillServer();
    const bool created = Record(job_id).has_job();
    StartServer();
    if (created) {
      ++there;
      ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED)) << turn << Get(job_id).error_message();
      EXPECT_EQ(Tokens().back(), "value of " + job_id);
    }
    EXPECT_TRUE(NothingIsLeft()) << turn;
  }
  EXPECT_GT(there, 5);
}

/// The state after a power cut: the record is there, the last rename is not.
TEST_F(JobSecretsTest, ThatWereNotKeptYetAreFoundByTheRecord) {
  Job job = MakeSecretJob("j");
  job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::BASIC_GPU);  // no GPU: it waits
  ASSERT_TRUE(Create(job));
  const v1::JobRecord record = Record("j");
  KillServer();
  const std::filesystem::path folder = folder_ / "secrets";
  std::filesystem::rename(folder / std::to_string(record.uid()), folder / ("new-" + StagedName(record)));
  std::ofstream(folder / "new-0000000000-1") << "TOKEN=of no job";
  StartServer();
  EXPECT_TRUE(std::filesystem::exists(folder / std::to_string(record.uid())));
  EXPECT_FALSE(std::filesystem::exists(folder / "new-0000000000-1"));
  EXPECT_EQ(Await(secrets_->Read(record.uid())), (jobs::Secrets{{"TOKEN", "value of j"}}));
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(JobSecretsTest, EachTrialHasThoseOfItsTuningJobAlsoAfterAKill) {
  Job job = MakeSecretJob("tuning");
  ml::v1::HyperparameterSpec& spec = *job.mutable_training_input()->mutable_hyperparameters();
  spec.set_max_trials(4);
  spec.set_max_parallel_trials(2);
  ml::v1::ParameterSpec& x = *spec.add_params();
  x.set_parameter_name("x");
  x.set_type(ml::v1::ParameterSpec::DOUBLE);
  x.set_max_value(1);
  replicas_->SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(RunUntil([this] { return replicas_->Alive().size() == 2; }));
  KillServer();
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  for (const std::string& attempt : replicas_->Alive()) replicas_->Lose(attempt);
  StartServer();
  ASSERT_TRUE(WaitForEnd("tuning", Job::SUCCEEDED));
  EXPECT_THAT(Tokens(), AllOf(SizeIs(testing::Ge(4U)), Each("value of tuning")));
  EXPECT_EQ(Record("tuning").tuning().trials_created(), 4);
  EXPECT_TRUE(NothingIsLeft());
}

}  // namespace
}  // namespace trainyard::control
