#include "rules/slurm/batch_script.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

BatchJob BatchOf() {
  return {.installation = "1f3a",
          .submission = {.gang = {.job_uid = 17, .try_number = 1}, .number = 2},
          .boot = {.source = {.server_host = "10.0.0.1",
                              .server_port = 7443,
                              .certificate_sha256 = "c0ffee",
                              .program_sha256 = "beef"},
                   .program_path = "/opt/o'clock/trainyard",
                   .ticket = "t1cket"}};
}

Component Replicas(int count, int cpus) {
  Component component{.cpus = cpus, .memory_mib = 2'000};
  for (int i = 0; i < count; ++i) component.replicas.push_back(i);
  return component;
}

TEST(BatchScript, OfEqualReplicasIsAPlainJob) {
  BatchJob batch = BatchOf();
  batch.nice = 50;
  batch.times = {.limit = std::chrono::minutes(90), .deadline = SysTime(std::chrono::seconds(1'800'000'000))};
  const std::string script = BatchScript(batch, {.components = {Replicas(3, 4)}});
  EXPECT_THAT(script, StartsWith("#!/bin/bash\n"
                                 "#SBATCH --no-kill\n"
                                 "#SBATCH --job-name=ty-1f3a-17-1\n"
                                 "#SBATCH --comment=trainyard:2\n"
                                 "#SBATCH --no-requeue --chdir=/ --output=/dev/null\n"
                                 "#SBATCH --signal=URG@120\n"
                                 "#SBATCH --time=90\n"
                                 "#SBATCH --deadline=2027-01-15T08:00:00\n"
                                 "#SBATCH --nice=50\n"
                                 "#SBATCH --ntasks=3 --cpus-per-task=4\n"
                                 "#SBATCH --mem-per-cpu=500\n"
                                 "trap : TERM\n"));
  EXPECT_THAT(script, HasSubstr("\nsrun --no-kill --export=ALL"));
  EXPECT_THAT(script, HasSubstr("TRAINYARD_UNTIL=$((EPOCHSECONDS + 5400))"));
  EXPECT_THAT(script, Not(HasSubstr("hetjob")));
}

TEST(BatchScript, OfSeveralComponentsSaysAllForEach) {
  Component gpus = Replicas(1, 8);
  gpus.gpus = 2;
  gpus.gpu_type = "a100";
  gpus.options = {
      .partition = "gpu", .account = "lab", .qos = "high", .constraint = "nvlink", .lines = {"--exclusive"}};
  const std::string script = BatchScript(BatchOf(), {.components = {gpus, Replicas(2, 1)}});
  EXPECT_THAT(script, HasSubstr("#SBATCH --gpus-per-task=a100:2\n"
                                "#SBATCH --partition=gpu\n"
                                "#SBATCH --account=lab\n"
                                "#SBATCH --qos=high\n"
                                "#SBATCH --constraint=nvlink\n"
                                "#SBATCH --exclusive\n"
                                "#SBATCH hetjob\n"
                                "#SBATCH --job-name=ty-1f3a-17-1\n"
                                "#SBATCH --comment=trainyard:2\n"));
  EXPECT_THAT(script, HasSubstr("\nsrun --het-group=0-1 --export=ALL"));
  EXPECT_THAT(script, Not(HasSubstr("--no-kill"))) << "Slurm leaves half of such a job alive";
  EXPECT_THAT(script, Not(HasSubstr("--time="))) << "the partition's own";
}

TEST(BatchScript, TheStepNamesNoTypeOfGpus) {
  EXPECT_THAT(JobScript(BatchOf(), {.components = {Replicas(2, 1)}}),
              HasSubstr("\nfor gpus in ${!SLURM_GPUS_PER_TASK*}; do export \"$gpus=${!gpus##*:}\"; done\n"));
}

TEST(BatchScript, TheTicketIsNoArgument) {
  const BatchJob batch = BatchOf();
  EXPECT_THAT(BootScript(batch.boot), Not(HasSubstr("t1cket")));
  EXPECT_THAT(BatchScript(batch, {.components = {Replicas(1, 1)}}), HasSubstr("TRAINYARD_TICKET=t1cket\n"));
  EXPECT_THAT(BootScript(batch.boot), HasSubstr("mine='/opt/o'\\''clock/trainyard'"));
}

TEST(BatchScript, HighPrioritiesAreNotNice) {
  EXPECT_EQ(NiceOf(0, 100), 100);
  EXPECT_EQ(NiceOf(500, 100), 50);
  EXPECT_EQ(NiceOf(1000, 100), 0);
  EXPECT_EQ(NiceOf(0, 0), 0);
}

}  // namespace
}  // namespace trainyard::slurm
