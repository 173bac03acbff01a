#include "control/testing/world.h"

/// Resources that a cluster grants late, refuses and revokes.
namespace trainyard::control {
namespace {

class RevocationTest : public World {
 protected:
  RevocationTest() { UseNodes({"node-1", "node-2", "node-3"}); }

  void UseNodes(const std::vector<std::string>& nodes) {
    KillServer();
    UseCluster(nodes, 1);
    StartServer();
    replicas_->SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  }
  /// Like a cluster: the resources are revoked, and what runs there dies.
  void LoseNode(const std::string& node) {
    replicas_->LoseNode(node);
    cluster_->LoseNode(node);
  }
  std::string NodeOf(const std::string& job_id, int replica) {
    return Record(job_id).replicas(replica).slot().node();
  }
  [[nodiscard]] bool WaitForTry(const std::string& job_id, int try_number) {
    return RunUntil([&] {
      const v1::JobRecord record = Record(job_id);
      return record.reserved() && record.try_number() == try_number && !record.retrying() &&
             replicas_->Alive().size() == static_cast<std::size_t>(record.replicas_size());
    });
  }
};

TEST_F(RevocationTest, AGangWhoseNodeIsLostStartsAgainElsewhere) {
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  const std::string lost = NodeOf("j", 1);
  LoseNode(lost);
  ASSERT_TRUE(WaitForTry("j", 2));
  const v1::JobRecord record = Record("j");
  for (const v1::ReplicaRecord& replica : record.replicas()) {
    EXPECT_EQ(replica.attempt(), 2);
    EXPECT_NE(replica.slot().node(), lost);
  }
  EXPECT_EQ(record.retries(), 0) << "the job did nothing wrong";
  EXPECT_EQ(record.job().state(), Job::RUNNING);
  const auto said = testing::Contains(HasSubstr("The node " + lost + " is lost."));
  EXPECT_TRUE(RunUntil([&] { return testing::Matches(said)(Lines("j", "service")); }));
  replicas_->End("1-master-replica-0-2", Exit(0));
  EXPECT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  ExpectNothingStartedTwice();
}

TEST_F(RevocationTest, WithoutRoomElsewhereItWaitsAndSaysWhy) {
  ASSERT_TRUE(Create(MakeJob("j", 2)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  LoseNode("node-2");
  const auto reason = [this] { return Await(service_->Describe({"p", "j"}))->waiting().reason(); };
  ASSERT_TRUE(
      RunUntil([&] { return reason() == "Waiting for the cluster: it has no room for 3 replicas."; }));
  EXPECT_TRUE(RunUntil([this] { return replicas_->Alive().empty(); })) << "the rest of the gang was stopped";
  cluster_->AddNode("node-4", 1);
  EXPECT_TRUE(WaitForTry("j", 2));
}

TEST_F(RevocationTest, AJobThatIsRefusedStaysQueuedWithTheReason) {
  cluster_->Refuse("The partition is down.");
  ASSERT_TRUE(Create(MakeJob("j")));
  const auto status = [this] { return *Await(service_->Describe({"p", "j"})); };
  ASSERT_TRUE(RunUntil([&] { return status().waiting().reason() == "The partition is down."; }));
  EXPECT_EQ(Get("j").state(), Job::QUEUED);
  EXPECT_EQ(Get("j").job_position(), 1);
  cluster_->Refuse("");
  EXPECT_TRUE(WaitForState("j", Job::RUNNING));
}

TEST_F(RevocationTest, ANewServerLearnsWhatWasRevokedMeanwhile) {
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  KillServer();
  LoseNode(NodeOf("j", 0));
  StartServer();
  ASSERT_TRUE(WaitForTry("j", 2));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  ExpectNothingStartedTwice();
}

TEST_F(RevocationTest, APendingReservationOutlivesTheServer) {
  cluster_->Refuse("Maintenance.");
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(RunUntil([this] { return Await(service_->Describe({"p", "j"}))->has_waiting(); }));
  KillServer();
  cluster_->Refuse("");
  StartServer();
  EXPECT_TRUE(WaitForState("j", Job::RUNNING));
  EXPECT_EQ(Record("j").try_number(), 1);
}

TEST_F(RevocationTest, ACancelledJobLosesItsRoomOnce) {
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  ASSERT_TRUE(Cancel("j"));
  LoseNode(NodeOf("j", 0));
  EXPECT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(replicas_->started(), SizeIs(2));
}

TEST_F(RevocationTest, WhatIsPreemptedIsStoppedAndStartsAgain) {
  UseNodes({"node-1"});
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  cluster_->Revoke(Record("j").uid(), "A job of a higher priority needs the room.");
  ASSERT_TRUE(WaitForTry("j", 2));
  EXPECT_EQ(NodeOf("j", 0), "node-1");
}

class EndsInTheCluster : public RevocationTest {
 protected:
  void RunAndRevoke(placement::RoomEnd kind, const std::string& reason) {
    ASSERT_TRUE(Create(MakeJob("j")));
    ASSERT_TRUE(WaitForState("j", Job::RUNNING));
    cluster_->Revoke(Record("j").uid(), reason, kind);
  }
};

TEST_F(EndsInTheCluster, WhatIsCancelledThereIsCancelled) {
  RunAndRevoke(placement::RoomEnd::kCancelled, "The job 7 of Slurm was cancelled in Slurm.");
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_EQ(Get("j").error_message(), "The job 7 of Slurm was cancelled in Slurm.");
  EXPECT_THAT(replicas_->started(), SizeIs(1)) << "it does not start again";
}

TEST_F(EndsInTheCluster, TheTimeLimitIsTheMaximumRunningTime) {
  RunAndRevoke(placement::RoomEnd::kTimeLimit, "The job 7 of Slurm has reached its time limit.");
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED)) << "as where the service itself finds that it ran too long";
  EXPECT_THAT(Get("j").error_message(), HasSubstr("Raise scheduling.maxRunningTime"));
}

TEST_F(EndsInTheCluster, TooMuchMemoryFails) {
  RunAndRevoke(placement::RoomEnd::kOutOfMemory, "The job 7 of Slurm used more memory than it asked for.");
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(Get("j").error_message(), HasSubstr("Use a machine type with more memory."));
}

TEST_F(EndsInTheCluster, WhatWaitsMayBeOverToo) {
  cluster_->Refuse("The partition is down.");
  for (const auto& [id, kind] :
       {std::pair("c", placement::RoomEnd::kCancelled), std::pair("d", placement::RoomEnd::kDeadline)}) {
    ASSERT_TRUE(Create(MakeJob(id)));
    ASSERT_TRUE(RunUntil([&] { return Await(service_->Describe({"p", id}))->has_waiting(); }));
    cluster_->Revoke(Record(id).uid(), "It is over.", kind);
    EXPECT_TRUE(WaitForEnd(id, Job::CANCELLED));
  }
  EXPECT_THAT(Get("d").error_message(), HasSubstr("Raise scheduling.maxWaitTime"));
}

TEST_F(EndsInTheCluster, LinesThatWereLostWithANodeAreNamedHoweverTheJobEnds) {
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  replica::v1::ExitRecord lost;
  lost.set_cause(replica::v1::ExitRecord::LOST);
  lost.set_log_lost(true);
  lost.set_message("its node is lost, and with it the output after line 3");
  replicas_->End("1-worker-replica-0-1", lost);
  ASSERT_TRUE(RunUntil([this] { return Record("j").replicas(1).attempt() == 2; }));
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Get("j").error_message(),
            "The log of the job is not complete. The replica worker 0, attempt 1: its node is lost, and with "
            "it the output after line 3.");
}

TEST_F(EndsInTheCluster, AReplicaThatItsMachineEndedFirstChangesNothing) {
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  replica::v1::ExitRecord ended;
  ended.set_cause(replica::v1::ExitRecord::SHUT_DOWN);
  replicas_->End("1-worker-replica-0-1", ended);
  ASSERT_TRUE(RunUntil([this] { return Record("j").replicas(1).attempt() == 2; }));
  cluster_->Revoke(Record("j").uid(), "The job 7 of Slurm was cancelled in Slurm.",
                   placement::RoomEnd::kCancelled);
  EXPECT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_EQ(Record("j").replicas(1).restarts(), 0);
}

}  // namespace
}  // namespace trainyard::control
