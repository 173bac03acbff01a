#include "rules/jobs/service_lines.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

using logging::v2::LogEntry;

struct Row {
  const char* name;
  const char* after;
  const char* event;
  std::vector<ServiceLine> lines;
};
class Lines : public testing::TestWithParam<Row> {};

TEST_P(Lines, AreTheDocumentedOnes) {
  control::v1::JobRecord after;
  control::v1::Event event;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().after, &after));
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().event, &event));
  EXPECT_EQ(LinesFor(after, event), GetParam().lines);
}

INSTANTIATE_TEST_SUITE_P(
    Events, Lines,
    testing::Values(
        Row{"created",
            "job { job_id: 'j' }",
            "created { }",
            {{LogEntry::INFO, "Validating job requirements..."},
             {LogEntry::INFO, "Job creation request has been successfully validated."},
             {LogEntry::INFO, "Job j is queued."},
             {LogEntry::INFO, "Waiting for job to be provisioned."}}},
        Row{"created_with_images",
            "job { job_id: 'j' } images { image: 'a:1' reference: 'docker.io/library/a@sha256:0' digest: "
            "'sha256:0' "
            "} images { image: 'b@sha256:1' reference: 'b@sha256:1' digest: 'sha256:1' }",
            "created { }",
            {{LogEntry::INFO, "Validating job requirements..."},
             {LogEntry::INFO, "Job creation request has been successfully validated."},
             {LogEntry::INFO, "Image a:1 is docker.io/library/a@sha256:0."},
             {LogEntry::INFO, "Job j is queued."},
             {LogEntry::INFO, "Waiting for job to be provisioned."}}},
        Row{"created_with_an_image_that_nobody_knows",
            "job { job_id: 'j' } images { image: 'r:5/a:1' unresolved: 'r:5 does not answer: timeout' } "
            "remarks: 'Taken from the job a (resumePreviousJobId): params.'",
            "created { }",
            {{LogEntry::INFO, "Validating job requirements..."},
             {LogEntry::INFO, "Job creation request has been successfully validated."},
             {LogEntry::WARNING,
              "The image r:5/a:1 is not resolved yet: r:5 does not answer: timeout. The job waits until its "
              "registry answers."},
             {LogEntry::INFO, "Taken from the job a (resumePreviousJobId): params."},
             {LogEntry::INFO, "Job j is queued."},
             {LogEntry::INFO, "Waiting for job to be provisioned."}}},
        Row{"created_with_a_warning",
            "job { job_id: 'j' } warnings: 'Did you mean gs://a?' notes: 'at admission'",
            "created { }",
            {{LogEntry::INFO, "Validating job requirements..."},
             {LogEntry::INFO, "Job creation request has been successfully validated."},
             {LogEntry::WARNING, "Did you mean gs://a?"},
             {LogEntry::INFO, "Job j is queued."},
             {LogEntry::INFO, "Waiting for job to be provisioned."}}},
        Row{"images_resolved",
            "",
            "images_resolved { images { image: 'a:1' reference: 'a@sha256:0' } notes: 'n' }",
            {{LogEntry::INFO, "Image a:1 is a@sha256:0."}}},
        Row{"admitted_with_notes",
            "notes: 'no Python 3.7 here' notes: 'shares 2 CPUs'",
            "admitted { grant { notes: 'shares 2 CPUs' } }",
            {{LogEntry::WARNING, "no Python 3.7 here"},
             {LogEntry::INFO, "shares 2 CPUs"},
             {LogEntry::INFO, "Waiting for training program to start."},
             {LogEntry::INFO, "Job is preparing."}}},
        Row{"running", "", "running { }", {{LogEntry::INFO, "Job is running."}}},
        Row{"restart", "", "restart_decided { reason: 'it died' }", {{LogEntry::WARNING, "it died"}}},
        Row{"retry", "", "retry_decided { reason: 'it died often' }", {{LogEntry::WARNING, "it died often"}}},
        Row{"cancel",
            "outcome: CANCELLED",
            "cancel_requested { reason: 'Enough.' }",
            {{LogEntry::INFO, "Job is being cancelled. Enough."}}},
        Row{"cancel_too_late", "outcome: SUCCEEDED", "cancel_requested { reason: 'Enough.' }", {}},
        Row{"failure",
            "",
            "concluded { outcome: FAILED error_message: 'two\\nlines' }",
            {{LogEntry::ERROR, "two\nlines"}}},
        Row{"success_is_said_at_the_end", "", "concluded { outcome: SUCCEEDED }", {}},
        Row{"succeeded",
            "job { state: SUCCEEDED start_time { } }",
            "ended { }",
            {{LogEntry::INFO, "Finished tearing down training program."},
             {LogEntry::INFO, "Job completed successfully."}}},
        Row{"failed",
            "job { state: FAILED start_time { } }",
            "ended { }",
            {{LogEntry::INFO, "Finished tearing down training program."}, {LogEntry::INFO, "Job failed."}}},
        Row{"cancelled_in_the_queue",
            "job { state: CANCELLED }",
            "ended { }",
            {{LogEntry::INFO, "Job cancelled."}}},
        Row{"maintenance",
            "",
            "maintenance_requested { replica { type: WORKER index: 2 } attempt: 1 }",
            {{LogEntry::INFO,
              "Host maintenance: the replica worker 2 is being stopped and starts again with the "
              "same name "
              "and cluster."}}},
        Row{"launched", "", "launched { }", {}}, Row{"replica_ended", "", "replica_ended { }", {}},
        Row{"retry_started", "", "retry_started { }", {}}, Row{"patched", "", "patched { }", {}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::jobs
