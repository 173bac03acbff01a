#include "rules/kubernetes/pod.h"

#include <gmock/gmock.h>

namespace trainyard::kubernetes::pod_test {
namespace {

TEST(ParsePod, ReadsAPodThatWaits) {
  const Result<Pod> pod = ParsePod(R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {"name": "ty-1f3a-17-1-2-0", "uid": "u-1"},
    "spec": {"containers": [{"name": "agent"}]},
    "status": {"phase": "Pending", "conditions": [
      {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastProbeTime": null,
       "message": "0/4 nodes are available: 4 Insufficient cpu."}]}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(*pod, (Pod{.name = "ty-1f3a-17-1-2-0",
                       .uid = "u-1",
                       .conditions = {{.type = "PodScheduled",
                                       .status = "False",
                                       .reason = "Unschedulable",
                                       .message = "0/4 nodes are available: 4 Insufficient cpu."}}}));
  EXPECT_FALSE(pod->has_node());
  EXPECT_FALSE(pod->has_ended());
}

TEST(ParsePod, ReadsTheAgentsContainer) {
  const Result<Pod> pod = ParsePod(R"({
    "metadata": {"name": "p", "uid": "u", "deletionTimestamp": "2026-11-28T10:00:00Z"},
    "spec": {"nodeName": "n1"},
    "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory.",
      "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}],
      "containerStatuses": [
        {"name": "sidecar", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}},
        {"name": "agent", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "m"}}}]}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(
      *pod,
      (Pod{.name = "p",
           .uid = "u",
           .node = "n1",
           .phase = Pod::Phase::kFailed,
           .reason = "Evicted",
           .message = "The node was low on resource: memory.",
           .conditions = {{.type = "DisruptionTarget", .status = "True", .reason = "TerminationByKubelet"}},
           .terminated = Pod::Terminated{.exit_code = 137, .reason = "OOMKilled", .message = "m"},
           .is_deleted = true}));
}

TEST(ParsePod, ReadsWhatAContainerWaitsFor) {
  const Result<Pod> pod = ParsePod(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n1"}, "status": {
      "phase": "Pending", "containerStatuses": [
        {"name": "x", "state": {"waiting": {"reason": "ErrImagePull", "message": "connection refused"}}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->waiting, (Pod::Waiting{.reason = "ErrImagePull", .message = "connection refused"}));
  EXPECT_EQ(pod->terminated, std::nullopt);
}

TEST(ParsePod, AnInitContainerThatCannotStartIsWhatThePodWaitsFor) {
  const Result<Pod> pod = ParsePod(R"({"metadata": {"name": "p"}, "status": {
      "initContainerStatuses": [{"name": "init", "state": {"running": {}}},
        {"name": "i", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}],
      "containerStatuses": [{"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->waiting, (Pod::Waiting{.reason = "ImagePullBackOff", .message = "no such image"}));
}

/// A pod with a container of the job's own, whose containers have these states.
Pod WithJob(const std::string& job, const std::string& agent) {
  return ParsePod(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n1"}, "status": {"phase": "Running",
      "containerStatuses": [{"name": "job", "state": )" +
                  job + R"(}, {"name": "agent", "state": )" + agent + "}]}}")
      .value_or(Pod());
}

TEST(ParsePod, APodWithAJobsImageEndsWithEitherContainer) {
  EXPECT_FALSE(WithJob(R"({"running": {}})", R"({"running": {}})").has_ended());
  const Pod left = WithJob(R"({"running": {}})", R"({"terminated": {"exitCode": 0, "reason": "Completed"}})");
  EXPECT_TRUE(left.has_ended());
  EXPECT_EQ(left.terminated, (Pod::Terminated{.exit_code = 0, .reason = "Completed"}));
  const Pod killed =
      WithJob(R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})", R"({"running": {}})");
  EXPECT_TRUE(killed.has_ended());
  EXPECT_EQ(EndOf(killed, false).kind, placement::RoomEnd::kOutOfMemory);
  const Pod both = WithJob(R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})",
                           R"({"terminated": {"exitCode": 0, "reason": "Completed"}})");
  EXPECT_EQ(EndOf(both, false).kind, placement::RoomEnd::kOutOfMemory) << "the agent's end comes of it";
}

TEST(ParsePod, ThePodIsNotDeadWhileTheJobsContainerRuns) {
  const std::string ended = R"({"terminated": {"exitCode": 1, "reason": "Error"}})";
  EXPECT_TRUE(WithJob(R"({"running": {}})", ended).job_runs);
  EXPECT_FALSE(WithJob(ended, R"({"running": {}})").job_runs);
}

TEST(ParsePod, AnAgentOfADeletedPodHandsOver) {
  const Result<Pod> pod = ParsePod(R"({"metadata": {"name": "p", "deletionTimestamp": "2026-11-28T10:00:00Z"},
      "spec": {"nodeName": "n1"}, "status": {"phase": "Running", "containerStatuses": [
        {"name": "job", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
        {"name": "agent", "state": {"running": {}}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_FALSE(pod->has_ended());
}

TEST(ParsePod, AnAgentWithoutMemoryIsNotTheJobsFault) {
  const Pod pod =
      WithJob(R"({"running": {}})", R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})");
  EXPECT_EQ(EndOf(pod, false).kind, placement::RoomEnd::kLost);
}

TEST(ParsePod, AnImageThatCannotRunTheStarterFailsTheJob) {
  const Pod pod =
      WithJob(R"({"terminated": {"exitCode": 128, "reason": "StartError", "message": "exec format error"}})",
              R"({"running": {}})");
  EXPECT_TRUE(pod.has_ended());
  EXPECT_EQ(EndOf(pod, false).kind, placement::RoomEnd::kCannotStart);
}

TEST(ParsePod, APreparationThatFailedSaysHowThePodEnded) {
  const Result<Pod> pod = ParsePod(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n1"}, "status": {
      "phase": "Failed", "initContainerStatuses": [
        {"name": "prepare", "state": {"terminated": {"exitCode": 69, "reason": "Error"}}}],
      "containerStatuses": [{"name": "job", "state": {"waiting": {"reason": "PodInitializing"}}},
        {"name": "agent", "state": {"waiting": {"reason": "PodInitializing"}}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_THAT(EndOf(*pod, false).reason, testing::HasSubstr("could not download the agent's program"));
}

TEST(ParsePod, KnowsWhoseImageIsMissing) {
  const Pod pod = ParsePod(R"({"metadata": {"name": "p"}, "spec": {"nodeName": "n1"}, "status": {
      "phase": "Pending", "containerStatuses": [
        {"name": "job", "state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}},
        {"name": "agent", "state": {"running": {}}}]}})")
                      .value_or(Pod());
  const std::optional<StartWait> wait = WhyNotStarted(pod);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->words.reason, "The node n1 cannot pull the job's image: no such image.");
  EXPECT_THAT(wait->words.unblock, testing::HasSubstr("Check the image that the job names"));
}

TEST(ParsePod, KnowsAllPhases) {
  const auto phase = [](const std::string& text) {
    return ParsePod(R"({"metadata":{"name":"p"},"status":{"phase":")" + text + R"("}})")->phase;
  };
  EXPECT_EQ(phase("Pending"), Pod::Phase::kPending);
  EXPECT_EQ(phase("Running"), Pod::Phase::kRunning);
  EXPECT_EQ(phase("Succeeded"), Pod::Phase::kSucceeded);
  EXPECT_EQ(phase("Failed"), Pod::Phase::kFailed);
  EXPECT_EQ(phase("Unknown"), Pod::Phase::kUnknown);
  EXPECT_EQ(phase("Mended"), Pod::Phase::kUnknown);
  EXPECT_EQ(phase(""), Pod::Phase::kPending);
}

class NoPod : public testing::TestWithParam<const char*> {};
TEST_P(NoPod, IsAnError) {
  const Result<Pod> pod = ParsePod(GetParam());
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().code, Code::kDataLoss);
}
INSTANTIATE_TEST_SUITE_P(Texts, NoPod,
                         testing::Values("", "{", "[]", "{}", R"({"metadata":{"name":""}})",
                                         R"({"metadata":{"name":7}})",
                                         R"({"kind":"Status","metadata":{},"code":410,"message":"too old"})",
                                         R"({"kind":"Secret","metadata":{"name":"ty-1f3a-17-1-2"}})"));

TEST(ParsePod, AMemberOfAnotherKindIsAMissingOne) {
  const Result<Pod> pod = ParsePod(R"({"metadata":{"name":"p","uid":[]},"spec":7,"status":{"phase":null,
      "conditions":[7,{}],"containerStatuses":[null,{"state":{"terminated":3}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->conditions.size(), 1U);
  EXPECT_EQ(pod->terminated, Pod::Terminated{});
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_test
