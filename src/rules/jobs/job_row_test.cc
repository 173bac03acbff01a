#include "rules/jobs/job_row.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "base/wire/utf8.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using control::v1::JobRow;

JobRecord Parse(const std::string& text) {
  JobRecord record;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &record)) << text;
  return record;
}

struct Row {
  const char* name;
  const char* record;
  const char* waits_for;
  const char* row;
};
class Rows : public testing::TestWithParam<Row> {};

TEST_P(Rows, ShowAJobInAFewWords) {
  JobRow expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().row, &expected));
  const JobRow row = RowOf(Parse(GetParam().record), GetParam().waits_for);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(row, expected)) << row.DebugString();
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Rows,
    testing::Values(
        Row{"queued",
            "creator: 'user:ann@example.com' job { job_id: 'a' state: QUEUED create_time { seconds: 5 } "
            "labels { key: 'team' value: 'x' } training_input { python_module: 'trainer.task' } }",
            "All CPUs are in use.",
            "job_id: 'a' state: QUEUED create_time { seconds: 5 } labels { key: 'team' value: 'x' } "
            "creator: 'user:ann@example.com' summary: 'trainer.task' machines: 'BASIC' "
            "reason: 'All CPUs are in use.'"},
        Row{"of_vertex_ai",
            "job { job_id: 'vertex_7110512376444053982' display_name: 'census' state: RUNNING "
            "training_input { python_module: 'm' } } submitted_as { api: 'aiplatform' collection: "
            "'customJobs' "
            "location: 'us-central1' number: 7110512376444053982 resource: 'long' }",
            "",
            "job_id: 'vertex_7110512376444053982' display_name: 'census' state: RUNNING summary: 'm' "
            "machines: 'BASIC' submitted_as { api: 'aiplatform' collection: 'customJobs' "
            "location: 'us-central1' number: 7110512376444053982 }"},
        Row{"failed",
            "job { job_id: 'a' state: FAILED start_time { seconds: 6 } end_time { seconds: 7 } "
            "error_message: 'The replica master 0 exited with a non-zero status of 1.\\nTraceback' "
            "training_input { scale_tier: BASIC_GPU master_config { image_uri: 'gcr.io/p/i:1' } } }",
            "nothing",
            "job_id: 'a' state: FAILED start_time { seconds: 6 } end_time { seconds: 7 } "
            "summary: 'gcr.io/p/i:1' machines: 'BASIC_GPU' "
            "reason: 'The replica master 0 exited with a non-zero status of 1.'"},
        Row{"diagnosed",
            "job { job_id: 'a' state: FAILED end_time { seconds: 7 } error_message: 'The replica master 0 "
            "exited with a non-zero status of 1.\\n\\nDiagnosis: python_exception. The program raised an "
            "exception: KeyError: x.\\nWhat to do: Look.' training_input { python_module: 'm' } }",
            "nothing",
            "job_id: 'a' state: FAILED end_time { seconds: 7 } summary: 'm' machines: 'BASIC' "
            "reason: 'The program raised an exception: KeyError: x.'"},
        Row{"undiagnosed",
            "job { job_id: 'a' state: FAILED end_time { seconds: 7 } error_message: 'It ended.\\nDiagnosis: "
            "x\\nThat is. All.' training_input { python_module: 'm' } }",
            "nothing",
            "job_id: 'a' state: FAILED end_time { seconds: 7 } summary: 'm' machines: 'BASIC' "
            "reason: 'It ended.'"},
        Row{"reported",
            "job { job_id: 'a' state: SUCCEEDED training_input { python_module: 'm' } } replicas { exit { "
            "metrics { seen_tags: 'acc' measurements { step: 3 value: 0.5 } } } } replicas { exit { } }",
            "",
            "job_id: 'a' state: SUCCEEDED summary: 'm' machines: 'BASIC' metric { tag: 'acc' value: 0.5 }"},
        Row{"any_gpu",
            "job { job_id: 'a' state: RUNNING training_input { scale_tier: CUSTOM master_type: "
            "'n1-standard-8' "
            "python_module: 'trainyard_program' master_config { accelerator_config { type: "
            "NVIDIA_TESLA_V100 count: 1 } } } }",
            "", "job_id: 'a' state: RUNNING summary: 'trainyard_program' machines: 'n1-standard-8, 1 GPU'"},
        Row{"custom",
            "algorithm: 'boosted_trees' job { job_id: 'a' state: RUNNING training_input { scale_tier: CUSTOM "
            "master_type: 'n1-standard-4' master_config { accelerator_config { count: 1 type: "
            "NVIDIA_TESLA_T4 "
            "} image_uri: 'gcr.io/cloud-ml-algos/boosted_trees' } worker_type: 'n1-standard-4' worker_count: "
            "2 "
            "worker_config { accelerator_config { count: 2 type: NVIDIA_TESLA_T4 } } "
            "parameter_server_type: 'n1-standard-4' parameter_server_count: 1 } }",
            "",
            "job_id: 'a' state: RUNNING summary: 'boosted_trees' "
            "machines: 'n1-standard-4, 2 workers, 1 parameter server, 5 NVIDIA_TESLA_T4'"},
        Row{"tuning",
            "tuning { trials_created: 4 trials_succeeded: 2 trials_failed: 1 } job { job_id: 'a' "
            "state: RUNNING training_input { python_module: 't' hyperparameters { max_trials: 9 "
            "hyperparameter_metric_tag: 'loss' } } training_output { trials { trial_id: '2' state: SUCCEEDED "
            "final_metric { objective_value: 0.5 training_step: 3 } } trials { trial_id: '4' state: QUEUED } "
            "} "
            "}",
            "",
            "job_id: 'a' state: RUNNING summary: 't' machines: 'BASIC' tuning: true trials: 3 trials_max: 9 "
            "metric { tag: 'loss' value: 0.5 trial_id: '2' }"}),
    [](const auto& row) { return row.param.name; });

TEST(RowOf, CutsLongTextsBetweenCharacters) {
  std::string e_acute;
  for (int i = 0; i < 1'000; ++i) e_acute += "\xC3\xA9";
  JobRecord record = Parse("job { job_id: 'a' state: QUEUED }");
  record.mutable_job()->mutable_training_input()->set_python_module(e_acute);
  const JobRow row = RowOf(record, e_acute);
  EXPECT_LE(row.reason().size(), kReasonBytesMax);
  EXPECT_GT(row.reason().size(), kReasonBytesMax - 4);
  EXPECT_TRUE(wire::IsUtf8(row.reason()));
  EXPECT_LE(row.summary().size(), kRowWordsBytesMax);
  EXPECT_TRUE(wire::IsUtf8(row.summary()));
}

}  // namespace
}  // namespace trainyard::jobs
