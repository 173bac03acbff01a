#include "rules/slurm/commands.h"

#include <gtest/gtest.h>

namespace trainyard::slurm {
namespace {

// The messages are those of 22.05.8's tools.
TEST(Commands, KnowWhatARefusalMeans) {
  struct Row {
    const char* said;
    Failure means;
  };
  for (const auto& [said, means] :
       {Row{"sbatch: error: Batch job submission failed: Requested node configuration is not available\n",
            Failure::kNever},
        Row{"sbatch: error: invalid partition specified: nope\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified\n",
            Failure::kMistake},
        Row{"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
            "failure)\n",
            Failure::kNoAnswer},
        Row{"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
            Failure::kNoAnswer},
        Row{"slurm_load_jobs error: Invalid job id specified\n", Failure::kGone},
        Row{"scancel: error: Kill job error on job id 7: Invalid job id specified\n", Failure::kGone},
        Row{"sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job "
            "violates "
            "accounting/QOS policy (job submit limit, user's size and/or time limits)\n",
            Failure::kLater},
        Row{"sbatch: error: Batch job submission failed: Required partition not available (inactive or "
            "drain)\n",
            Failure::kLater},
        Row{"", Failure::kNoAnswer}})
    EXPECT_EQ(FailureOf(said), means) << said;
}

TEST(Commands, TheIdInSbatchsAnswer) {
  EXPECT_EQ(ParseSubmitted("17\n"), 17);
  EXPECT_EQ(ParseSubmitted("17;cluster\n"), 17);
  EXPECT_EQ(ParseSubmitted("17"), 17);
  EXPECT_EQ(ParseSubmitted(""), -1);
  EXPECT_EQ(ParseSubmitted("Submitted batch job 17"), -1);
  EXPECT_EQ(ParseSubmitted("17x"), -1);
}

TEST(Commands, WordsForPeople) {
  EXPECT_EQ(
      WordsOf("sbatch: error: Batch job submission failed: Requested node configuration is not available\n"),
      "Requested node configuration is not available");
  EXPECT_EQ(WordsOf("squeue: error: Unable to contact slurm controller\n"),
            "Unable to contact slurm controller");
  EXPECT_EQ(WordsOf("slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
            "Unable to contact slurm controller (connect failure)");
  EXPECT_EQ(WordsOf("slurm_x"), "");
  EXPECT_EQ(WordsOf(""), "");
}

}  // namespace
}  // namespace trainyard::slurm
