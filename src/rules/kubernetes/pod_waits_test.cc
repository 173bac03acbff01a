#include <gmock/gmock.h>

#include "rules/kubernetes/pod.h"

namespace trainyard::kubernetes::pod_waits_test {
namespace {

using placement::Shortage;
using testing::HasSubstr;
using testing::Not;

Pod Unscheduled(std::string reason, std::string message) {
  return {.name = "ty-1f3a-17-1-2-0",
          .conditions = {{.type = "PodScheduled",
                          .status = "False",
                          .reason = std::move(reason),
                          .message = std::move(message)}}};
}

Shortage WhyOf(std::string message) { return WhyUnplaced(Unscheduled("Unschedulable", std::move(message))); }

constexpr const char* kFree =
    "It starts when enough of that is free; a smaller machine type or fewer accelerators may start earlier.";

TEST(WhyUnplaced, CountsNodesByCause) {
  EXPECT_EQ(
      WhyOf("0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 "
            "Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: 4 "
            "Preemption is not helpful for scheduling."),
      (Shortage{.reason = "No node fits: 1 node is closed by a taint (it is down, or kept for other pods), 1 "
                          "node takes no new pods (cordoned), 2 nodes have too few free CPUs.",
                .unblock = kFree}));
  EXPECT_EQ(
      WhyOf("0/4 nodes are available: 1 Insufficient memory, 4 Insufficient nvidia.com/gpu. preemption: "
            "0/4 nodes are available: 4 No preemption victims found for incoming pod."),
      (Shortage{.reason = "No node fits: 1 node has too little free memory, 4 nodes have too few free GPUs.",
                .unblock = kFree}));
  EXPECT_EQ(WhyOf("0/1 nodes are available: 1 Insufficient amd.com/gpu.").reason,
            "No node fits: 1 node has too few free amd.com/gpu.");
}

TEST(WhyUnplaced, ASelectorThatFitsNoNodeNeverWill) {
  const std::string rest =
      " no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is "
      "not helpful for scheduling.";
  EXPECT_EQ(
      WhyOf("0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector." + rest),
      (Shortage{.reason = "No node fits: 4 nodes lack the labels of the node selector.",
                .unblock = "Give nodes these labels, or change the node selector in the server's settings.",
                .never = true}));
  EXPECT_FALSE(WhyOf("0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't match Pod's node "
                     "affinity/selector." +
                     rest)
                   .never);
  EXPECT_FALSE(WhyOf("0/4 nodes are available: 4 Insufficient cpu." + rest).never)
      << "perhaps busy with pods of a higher priority";
}

TEST(WhyUnplaced, TellsTaintsApart) {
  const Shortage taints = WhyOf(
      "0/3 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 2 node(s) "
      "had untolerated taint {team: a, b}. preemption: 0/3 nodes are available: 3 Preemption is not helpful "
      "for scheduling.");
  EXPECT_EQ(
      taints.reason,
      "No node fits: 1 node is not ready, 2 nodes are closed by taints (they are down, or kept for other "
      "pods).");
  EXPECT_THAT(taints.unblock, HasSubstr("administrator"));
}

TEST(WhyUnplaced, KeepsTheSchedulersWordsForOtherCauses) {
  EXPECT_EQ(
      WhyOf("0/2 nodes are available: 1 node(s) had volume node affinity conflict, 1 too far, too cold. "
            "preemption: 0/2."),
      (Shortage{.reason = "No node fits: 1 node had volume node affinity conflict, 1 node: too far, too "
                          "cold.",
                .unblock = "It starts when a node fits."}));
  EXPECT_EQ(WhyOf("no nodes available to schedule pods").reason, "The cluster has no nodes.");
  EXPECT_EQ(
      WhyOf("3/4 tasks in gang unschedulable: pod group is not ready. preemption: none").reason,
      "The cluster's scheduler finds no node: 3/4 tasks in gang unschedulable: pod group is not ready.");
}

TEST(WhyUnplaced, APodOfAGroupThatWouldFitLeavesTheCauseToTheOthers) {
  const std::string of_gang =
      "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group "
      "preemption: No preemption victims found for incoming preemptor";
  const Pod fits = Unscheduled("Unschedulable", of_gang);
  EXPECT_EQ(WhatIsSaid(fits), SaidOfNodes::kOfGang);
  EXPECT_LT(WhatIsSaid(fits),
            WhatIsSaid(Unscheduled("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")));
  EXPECT_EQ(WhatIsSaid(Pod()), SaidOfNodes::kNothing);
  EXPECT_EQ(WhyOf(of_gang).reason, "The cluster has no room for all of its pods at once.");
}

TEST(WhyUnplaced, KnowsQueuesAndErrors) {
  EXPECT_THAT(
      WhyUnplaced(Unscheduled("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates"))
          .reason,
      HasSubstr("A queue of the cluster"));
  EXPECT_EQ(WhyUnplaced(Unscheduled("SchedulerError", "binding rejected")).reason,
            "The cluster's scheduler has a problem: binding rejected.");
}

TEST(WhyUnplaced, SaysNothingBeforeTheScheduler) {
  EXPECT_EQ(WhyUnplaced({.name = "p"}), Shortage{});
  Pod placed = Unscheduled("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_TRUE(IsUnschedulable(placed));
  placed.node = "n1";
  EXPECT_EQ(WhyUnplaced(placed), Shortage{});
  EXPECT_FALSE(IsUnschedulable(placed));
  EXPECT_FALSE(IsUnschedulable({.name = "p"}));
  EXPECT_FALSE(IsUnschedulable(Unscheduled("SchedulingGated", "")));
}

class OddMessage : public testing::TestWithParam<const char*> {};
TEST_P(OddMessage, IsShownAsItIs) {
  const Shortage why = WhyOf(GetParam());
  EXPECT_THAT(why.reason, HasSubstr("The cluster's scheduler finds no node"));
  EXPECT_FALSE(why.unblock.empty());
}
INSTANTIATE_TEST_SUITE_P(Messages, OddMessage,
                         testing::Values("", "0/", "0/x nodes are available: 1 y.",
                                         "0/4 nodes are available: .",
                                         "0/4 nodes are available: preemption: none"));

Pod Waiting(std::string reason, std::string message = {}) {
  return {.name = "ty-1f3a-17-1-2-0",
          .node = "n1",
          .waiting = {.reason = std::move(reason), .message = std::move(message)}};
}

TEST(WhyNotStarted, SaysTheRegistrysWords) {
  const std::string words =
      "failed to pull and unpack image \"reg.lab/x:1\": failed to resolve reference \"reg.lab/x:1\": dial "
      "tcp "
      "10.0.0.9:443: connect: connection refused";
  const std::string reason = "The node n1 cannot pull its image: " + words + ".";
  for (const Pod& pod :
       {Waiting("ErrImagePull", "rpc error: code = Unavailable desc = " + words),
        Waiting("ImagePullBackOff", "Back-off pulling image \"reg.lab/x:1\": ErrImagePull: " + words)}) {
    const std::optional<StartWait> wait = WhyNotStarted(pod);
    ASSERT_TRUE(wait);
    EXPECT_EQ(wait->words.reason, reason);
    EXPECT_THAT(wait->words.unblock, HasSubstr("kubernetes-image"));
    EXPECT_FALSE(wait->is_final);
  }
}

TEST(WhyNotStarted, KnowsWhatNeverStarts) {
  for (const char* reason : {"InvalidImageName", "ErrImageNeverPull"}) {
    const std::optional<StartWait> wait = WhyNotStarted(Waiting(reason, "Failed to apply default image tag"));
    ASSERT_TRUE(wait);
    EXPECT_TRUE(wait->is_final);
    EXPECT_TRUE(wait->words.never);
    EXPECT_THAT(wait->words.reason, HasSubstr("image"));
  }
}

TEST(WhyNotStarted, TellsThePreparationsApart) {
  for (const char* reason : {"", "ContainerCreating", "PodInitializing"})
    EXPECT_EQ(WhyNotStarted(Waiting(reason))->words.reason,
              "The node n1 prepares its pod: it pulls the image and mounts volumes.");
  const StartWait secret =
      *WhyNotStarted(Waiting("CreateContainerConfigError", "secret \"nothere\" not found"));
  EXPECT_EQ(secret.words.reason, "A Secret that its pod needs does not exist: secret \"nothere\" not found.");
  EXPECT_FALSE(secret.is_final);
  EXPECT_EQ(WhyNotStarted(Waiting("CreateContainerError", "no space left"))->words.reason,
            "The node n1 cannot start its container (CreateContainerError): no space left.");
}

TEST(WhyNotStarted, IsSilentOtherwise) {
  EXPECT_EQ(WhyNotStarted({.name = "p"}).has_value(), false) << "it has no node";
  for (const Pod::Phase phase : {Pod::Phase::kRunning, Pod::Phase::kSucceeded, Pod::Phase::kFailed})
    EXPECT_FALSE(WhyNotStarted({.name = "p", .node = "n1", .phase = phase}).has_value());
}

TEST(ServerWords, AreOneShortLine) {
  const Pod pod = Waiting("ErrImagePull", "a\nb\x1b[31m" + std::string(5'000, 'x'));
  const std::string reason = WhyNotStarted(pod)->words.reason;
  EXPECT_LT(reason.size(), 500U);
  EXPECT_THAT(reason, Not(HasSubstr("\n")));
  EXPECT_THAT(reason, Not(HasSubstr("\x1b")));
}

TEST(ServerWords, KeepTheCauseAtTheEndOfALongMessage) {
  const std::string image = "registry.lab/img@sha256:" + std::string(64, 'c');
  std::string message = "failed to pull and unpack image";
  for (int i = 0; i < 5; ++i) message += " \"" + image + "\": failed to";
  const Pod pod =
      Waiting("ErrImagePull", message + " do request: dial tcp 10.0.0.1:5000: connect: connection refused");
  const std::string reason = WhyNotStarted(pod)->words.reason;
  EXPECT_THAT(reason, HasSubstr("failed to pull and unpack image"));
  EXPECT_THAT(reason, testing::EndsWith("dial tcp 10.0.0.1:5000: connect: connection refused."));
  EXPECT_LT(reason.size(), 500U);
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_waits_test
