#include "cli/jobs/job_summary.h"

#include <gtest/gtest.h>

#include "base/wire/json_tree.h"

namespace trainyard::cli {
namespace {

Json Waiting(const std::string& position, const std::string& reason, const std::string& unblock) {
  Json status = JsonObject();
  if (!position.empty()) SetMember(status, "waiting.jobPosition", JsonString(position));
  if (!reason.empty()) SetMember(status, "waiting.reason", JsonString(reason));
  if (!unblock.empty()) SetMember(status, "waiting.unblock", JsonString(unblock));
  return status;
}

TEST(PrintWaiting, SaysWhereWhyAndWhatWouldEndIt) {
  EXPECT_EQ(PrintWaiting(Waiting("2", "Waiting for a.", "It starts when a has ended.")),
            "Why it is waiting (position 2 in the queue):\n  Waiting for a.\n  It starts when a has "
            "ended.\n");
  EXPECT_EQ(PrintWaiting(Waiting("", "Waiting for a.", "")), "Why it is waiting:\n  Waiting for a.\n");
  EXPECT_EQ(PrintWaiting(JsonObject()), "");
  EXPECT_EQ(PrintWaiting(Waiting("1", "", "")), "") << "another server's answer";
}

TEST(PrintRemarks, AreALineForEachReplicaThatHasOne) {
  const auto status = wire::ParseJsonTree(
      R"({"replicas": [{"taskName": "master-replica-0", "remark": "No output for 34 minutes."},
                       {"taskName": "worker-replica-0"}]})");
  EXPECT_EQ(PrintRemarks(*status), "Remarks:\n  master-replica-0: No output for 34 minutes.\n");
  EXPECT_EQ(PrintRemarks(JsonObject()), "");
}

TEST(SubmittedAsText, SaysTheKindAndTheRegion) {
  const auto text = [](const std::string& collection) {
    const auto status = wire::ParseJsonTree(R"({"submittedAs": {"api": "aiplatform", "collection": ")" +
                                            collection + R"(", "location": "us-central1"}})");
    return SubmittedAsText(*status);
  };
  EXPECT_EQ(text("customJobs"), "Vertex AI custom job, us-central1");
  EXPECT_EQ(text("hyperparameterTuningJobs"), "Vertex AI tuning job, us-central1");
  EXPECT_EQ(text("trainingPipelines"), "Vertex AI training pipeline, us-central1");
  EXPECT_EQ(text("ofANewerServer"), "ofANewerServer, us-central1");
  EXPECT_EQ(SubmittedAsText(JsonObject()), "");
}

TEST(PrintImages, SaysWhatRuns) {
  const Result<Json> status = wire::ParseJsonTree(
      R"({"images": [{"image": "t:1", "reference": "docker.io/library/t@sha256:0", "digest": "sha256:0"},
                      {"image": "r:5/u:1"}]})");
  ASSERT_TRUE(status);
  EXPECT_EQ(PrintImages(*status),
            "Images:\n  t:1 is docker.io/library/t@sha256:0\n  r:5/u:1 is not resolved yet\n");
  EXPECT_EQ(PrintImages(JsonObject()), "");
}

}  // namespace
}  // namespace trainyard::cli
