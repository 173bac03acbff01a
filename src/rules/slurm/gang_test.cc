#include "rules/slurm/gang.h"

#include <gtest/gtest.h>

namespace trainyard::slurm {
namespace {

TEST(Reason, IsSaidInPlainWords) {
  EXPECT_EQ(MeaningOf("Resources", "").reason, "The nodes that it needs are busy with other jobs.");
  EXPECT_EQ(MeaningOf("PartitionDown", "gpu").reason,
            "The cluster's administrator has closed the partition 'gpu'.");
  EXPECT_EQ(MeaningOf("PartitionConfig", "").reason, "The default partition cannot hold it as it is.");
  EXPECT_EQ(MeaningOf("ReqNodeNotAvail, UnavailableNodes:node2", "").reason,
            "Nodes that it needs are broken or reserved (ReqNodeNotAvail, UnavailableNodes:node2).");
  EXPECT_EQ(MeaningOf("QOSMaxGRESPerUser", "").reason,
            "The quota of the server's account in Slurm is used up (QOSMaxGRESPerUser).");
  EXPECT_EQ(MeaningOf("SomethingNew", "").reason, "Slurm says why it waits: SomethingNew.");
}

TEST(Reason, KnowsWhatNeverStarts) {
  for (const char* never :
       {"BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "PartitionTimeLimit",
        "QOSMaxCpuPerJobLimit", "AssocMaxWallDurationPerJobLimit", "DependencyNeverSatisfied"})
    EXPECT_TRUE(MeaningOf(never, "").never) << never;
  for (const char* later :
       {"Resources", "Priority", "None", "Reservation", "QOSMaxJobsPerUserLimit", "QOSGrpCpuLimit",
        "Dependency", "BeginTime", "JobHeldUser", "Licenses", "Prolog", "SomethingNew"})
    EXPECT_FALSE(MeaningOf(later, "").never) << later;
}

}  // namespace
}  // namespace trainyard::slurm
