#include <gmock/gmock.h>

#include "rules/kubernetes/pod.h"

namespace trainyard::kubernetes::pod_end_test {
namespace {

using placement::RoomEnd;
using testing::HasSubstr;

Pod PodOf(Pod::Phase phase) { return {.name = "ty-1f3a-17-1-2-0", .uid = "u", .node = "n1", .phase = phase}; }

Pod Failed(std::string reason, std::string message) {
  Pod pod = PodOf(Pod::Phase::kFailed);
  pod.reason = std::move(reason);
  pod.message = std::move(message);
  return pod;
}

Pod Exited(int code, std::string reason, std::string message = {}) {
  Pod pod = PodOf(code == 0 ? Pod::Phase::kSucceeded : Pod::Phase::kFailed);
  pod.terminated =
      Pod::Terminated{.exit_code = code, .reason = std::move(reason), .message = std::move(message)};
  return pod;
}

Pod Disrupted(std::string reason, std::string message) {
  Pod pod = PodOf(Pod::Phase::kRunning);
  pod.is_deleted = true;
  pod.conditions = {{.type = "PodScheduled", .status = "True"},
                    {.type = "DisruptionTarget",
                     .status = "True",
                     .reason = std::move(reason),
                     .message = std::move(message)}};
  return pod;
}

struct Row {
  const char* name;
  Pod pod;
  RoomEnd kind;
  const char* words;  ///< a part of the reason
};
class PodEndOf : public testing::TestWithParam<Row> {};
TEST_P(PodEndOf, CountsForItsJob) {
  for (const bool is_gone : {false, true}) {
    const PodEnd end = EndOf(GetParam().pod, is_gone);
    EXPECT_EQ(end.kind, GetParam().kind) << end.reason;
    EXPECT_THAT(end.reason, HasSubstr(GetParam().words));
    EXPECT_TRUE(end.reason.starts_with("The pod ty-1f3a-17-1-2-0 on the node n1 ")) << end.reason;
    EXPECT_TRUE(end.reason.ends_with('.')) << end.reason;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Spec, PodEndOf,
    testing::Values(
        Row{"exit_3", Exited(3, "Error"), RoomEnd::kLost, "before its work was done (exit status 3)"},
        Row{"completed", Exited(0, "Completed"), RoomEnd::kLost, "before its work was done"},
        Row{"out_of_memory", Exited(137, "OOMKilled"), RoomEnd::kOutOfMemory, "used more memory"},
        Row{"a_child_out_of_memory", Exited(7, "OOMKilled"), RoomEnd::kOutOfMemory, "used more memory"},
        Row{"killed", Exited(137, "Error"), RoomEnd::kLost, "was ended by signal 9"},
        Row{"time_limit",
            Failed("DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
            RoomEnd::kTimeLimit, "has reached its time limit"},
        Row{"preempted",
            Disrupted("PreemptionByScheduler",
                      "default-scheduler: preempting to accommodate a higher priority pod"),
            RoomEnd::kPreempted, "had to make room"},
        Row{"drained", Disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), RoomEnd::kPreempted,
            "was evicted"},
        Row{"silent_node",
            Disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"),
            RoomEnd::kLost, "the node is silent"},
        Row{"node_deleted", Disrupted("DeletionByPodGC", "PodGC: node no longer exists"), RoomEnd::kLost,
            "no longer in the cluster"},
        Row{"node_pressure",
            Failed("Evicted", "The node was low on resource: memory. Threshold quantity: 1."), RoomEnd::kLost,
            "(Evicted): The node was low on resource: memory. Threshold quantity: 1."},
        Row{"node_shutdown",
            Failed("Terminated", "Pod was terminated in response to imminent node shutdown."), RoomEnd::kLost,
            "was ended by its node (Terminated)"},
        Row{"power_loss", Exited(255, "Unknown"), RoomEnd::kLost, "its node has started again"},
        Row{"power_loss_of_others", Exited(137, "ContainerStatusUnknown"), RoomEnd::kLost, "started again"},
        Row{"bad_command",
            Exited(128, "StartError", "exec: \"/nothere\": stat /nothere: no such file or directory"),
            RoomEnd::kCannotStart, "could not start its container: exec: \"/nothere\""},
        Row{"refused", Failed("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu"),
            RoomEnd::kLost, "was refused by its node (OutOfcpu)"},
        Row{"refused_by_plugin", Failed("UnexpectedAdmissionError", "Allocate failed due to no plugin"),
            RoomEnd::kLost, "was refused by its node (UnexpectedAdmissionError)"},
        Row{"no_download", Exited(69, "Error"), RoomEnd::kLost, "--agent-listen"},
        Row{"no_directory", Exited(72, "Error"), RoomEnd::kLost, "could not store"},
        Row{"no_coreutils", Exited(127, "Error"), RoomEnd::kCannotStart, "needs bash, coreutils"}),
    [](const auto& row) { return row.param.name; });

TEST(PodEnd, ADisruptionComesBeforeTheExitStatus) {
  Pod pod = Disrupted("PreemptionByScheduler", "m");
  pod.phase = Pod::Phase::kFailed;
  pod.terminated = Pod::Terminated{.exit_code = 143, .reason = "Error"};
  EXPECT_EQ(EndOf(pod, false).kind, RoomEnd::kPreempted);
  pod.terminated = Pod::Terminated{.exit_code = 137, .reason = "OOMKilled"};
  EXPECT_EQ(EndOf(pod, true).kind, RoomEnd::kPreempted);
  pod.conditions.back().status = "False";
  EXPECT_EQ(EndOf(pod, true).kind, RoomEnd::kOutOfMemory) << "it was no target in the end";
}

TEST(PodEnd, TheKubeletsOwnReasonSaysMore) {
  Pod pod = Disrupted("TerminationByKubelet", "The pod was terminated by the kubelet");
  pod.phase = Pod::Phase::kFailed;
  EXPECT_EQ(EndOf(pod, false).kind, RoomEnd::kLost);
  pod.reason = "Preempting";
  pod.message = "Preempted in order to admit critical pod";
  EXPECT_EQ(EndOf(pod, false).kind, RoomEnd::kPreempted);
}

TEST(PodEnd, AnUnknownDisruptionIsALoss) {
  EXPECT_EQ(EndOf(Disrupted("DeletionByComet", "it fell"), false),
            (PodEnd{.kind = RoomEnd::kLost,
                    .reason = "The pod ty-1f3a-17-1-2-0 on the node n1 was ended by the cluster "
                              "(DeletionByComet): it fell."}));
}

TEST(PodEnd, AQueueOfTheClusterPreempts) {
  Pod pod = PodOf(Pod::Phase::kRunning);
  pod.conditions = {
      {.type = "TerminationTarget", .status = "True", .reason = "WorkloadEvictedDueToPreempted"}};
  EXPECT_EQ(EndOf(pod, true).kind, RoomEnd::kPreempted);
  pod.conditions.front().reason = "WorkloadDeleted";
  EXPECT_EQ(EndOf(pod, true).kind, RoomEnd::kPreempted);
  pod.conditions.front().reason = "WorkloadEvictedDueToDeactivated";
  pod.conditions.front().message = "The workload is deactivated";
  EXPECT_EQ(
      EndOf(pod, true),
      (PodEnd{.kind = RoomEnd::kCancelled,
              .reason = "The pod ty-1f3a-17-1-2-0 on the node n1 was stopped by a queue of the cluster: The "
                        "workload is deactivated."}))
      << "its queue does not admit it again";
}

TEST(PodEnd, DeletedByHandIsCancelled) {
  const PodEnd deleted{.kind = RoomEnd::kCancelled,
                       .reason = "The pod ty-1f3a-17-1-2-0 on the node n1 was deleted in Kubernetes."};
  Pod pod = PodOf(Pod::Phase::kRunning);
  EXPECT_EQ(EndOf(pod, true), deleted) << "nobody saw how it went";
  pod.is_deleted = true;
  EXPECT_EQ(EndOf(pod, false), deleted);
  pod.phase = Pod::Phase::kFailed;
  pod.terminated = Pod::Terminated{.exit_code = 143, .reason = "Error"};
  EXPECT_EQ(EndOf(pod, true), deleted);
}

TEST(PodEnd, APodThatHadEndedIsNotCancelledByItsDeletion) {
  Pod pod = Exited(1, "Error");
  EXPECT_EQ(EndOf(pod, true).kind, RoomEnd::kLost);
}

TEST(PodEnd, AFormerClustersSilentNodeIsALoss) {
  Pod pod = PodOf(Pod::Phase::kRunning);
  pod.is_deleted = true;
  pod.reason = "NodeLost";
  EXPECT_EQ(EndOf(pod, false).kind, RoomEnd::kLost);
}

TEST(PodEnd, APodWithoutANodeIsNamed) {
  EXPECT_EQ(
      EndOf({.name = "ty-1f3a-17-1-2-0"}, true),
      (PodEnd{.kind = RoomEnd::kCancelled, .reason = "The pod ty-1f3a-17-1-2-0 was deleted in Kubernetes."}));
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_end_test
