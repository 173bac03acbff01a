#include "rules/jobs/timeline.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "base/wire/utf8.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using Entry = control::v1::JobTimeline::Entry;

Event Parse(const std::string& text) {
  Event event;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &event)) << text;
  return event;
}

struct Row {
  const char* name;
  const char* event;
  const char* entry;
};
class Sentences : public testing::TestWithParam<Row> {};

TEST_P(Sentences, TellWhatHappened) {
  Event event = Parse(GetParam().event);
  event.set_seq(3);
  event.mutable_time()->set_seconds(5);
  Entry expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().entry, &expected));
  expected.set_seq(3);
  expected.mutable_time()->set_seconds(5);
  const Entry entry = EntryOf(event);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(entry, expected)) << entry.DebugString();
}

INSTANTIATE_TEST_SUITE_P(
    Events, Sentences,
    testing::Values(
        Row{"created",
            "created { record { creator: 'user:ann@example.com' remarks: 'The bucket was made.' } }",
            "kind: 'created' text: 'The job was created by user:ann@example.com.' detail: 'The bucket was "
            "made.'"},
        Row{"trial_is_created",
            "created { record { trial { trial_id: '7' hyperparameters { key: 'b' value: '2' } "
            "hyperparameters { "
            "key: 'a' value: '1' } } } }",
            "kind: 'created' trial_id: '7' text: 'The trial was created and waits for resources.' detail: "
            "'a=1, "
            "b=2'"},
        Row{"admitted", "admitted { grant { slots { } slots { } notes: 'Two replicas share 4 CPUs.' } }",
            "kind: 'admitted' text: 'Resources allocated: 2 replicas on this machine.' detail: 'Two replicas "
            "share "
            "4 CPUs.'"},
        Row{"admitted_elsewhere",
            "admitted { grant { slots { node: 'a' } slots { node: 'b' } } runtime_version: '2.11-gpu' }",
            "kind: 'admitted' text: 'Resources allocated: 2 replicas on 2 nodes.' detail: 'The runtime "
            "version on these resources is 2.11-gpu.'"},
        Row{"tuning_job_is_admitted", "admitted { grant { } }",
            "kind: 'admitted' text: 'The job starts; each of its trials waits for its own resources.'"},
        Row{"revoked", "revoked { try_number: 1 reason: 'node-1 is lost.' }",
            "kind: 'revoked' text: 'The resources were taken back; the job waits for resources again.' "
            "detail: 'node-1 "
            "is "
            "lost.' trouble: true"},
        Row{"launched", "launched { replicas { type: WORKER index: 1 } }",
            "kind: 'launched' replica: 'worker-replica-1' text: 'The replica is being prepared: "
            "worker-replica-1.'"},
        Row{"launched_many",
            "launched { replicas { type: MASTER } replicas { type: WORKER } replicas { type: WORKER index: 1 "
            "} "
            "replicas { type: WORKER index: 2 } replicas { type: WORKER index: 3 } }",
            "kind: 'launched' text: 'The replicas are being prepared: master-replica-0, worker-replica-0, "
            "worker-replica-1, worker-replica-2 and 1 more.'"},
        Row{"running", "running { }", "kind: 'running' text: 'All replicas are running the program.'"},
        Row{"replica_failed",
            "replica_ended { replica { type: MASTER } attempt: 2 exit { cause: EXITED exit_code: 1 diagnosis "
            "{ "
            "name: 'x' summary: 'The module was not found.' advice: 'Add it to the package.' } } }",
            "kind: 'replica_ended' replica: 'master-replica-0' attempt: 2 text: 'master-replica-0 failed: "
            "exit "
            "code 1.' detail: 'The module was not found. Add it to the package.' trouble: true"},
        Row{"replica_succeeded",
            "replica_ended { replica { type: MASTER } attempt: 1 exit { cause: EXITED } }",
            "kind: 'replica_ended' replica: 'master-replica-0' attempt: 1 text: 'master-replica-0 ended: "
            "exit "
            "code 0.'"},
        Row{"replica_stopped",
            "replica_ended { replica { type: WORKER } attempt: 1 exit { cause: STOPPED signal: 15 } }",
            "kind: 'replica_ended' replica: 'worker-replica-0' attempt: 1 text: 'worker-replica-0 ended: it "
            "was "
            "stopped.'"},
        Row{"restart_decided",
            "restart_decided { replica { type: WORKER } reason: 'It was killed.' not_before { seconds: 9 } }",
            "kind: 'restart_decided' replica: 'worker-replica-0' text: 'worker-replica-0 is started again "
            "after a "
            "pause.' detail: 'It was killed.' trouble: true"},
        Row{"retry_decided", "retry_decided { reason: 'Three restarts were not enough.' }",
            "kind: 'retry_decided' text: 'The whole job starts again once all replicas have ended.' detail: "
            "'Three restarts were not enough.' trouble: true"},
        Row{"retry_started", "retry_started { }",
            "kind: 'retry_started' text: 'All replicas have ended; the job starts again.'"},
        Row{"cancel_requested", "cancel_requested { reason: 'Cancelled by the user.' }",
            "kind: 'cancel_requested' text: 'The job is being cancelled.' detail: 'Cancelled by the user.'"},
        Row{"maintenance_requested", "maintenance_requested { replica { type: MASTER } attempt: 1 }",
            "kind: 'maintenance_requested' replica: 'master-replica-0' attempt: 1 text: 'master-replica-0 is "
            "stopped for maintenance and starts again.'"},
        Row{"concluded_failed", "concluded { outcome: FAILED error_message: 'The replica failed.' }",
            "kind: 'concluded' text: 'It failed; the replicas that still run are being stopped.' detail: "
            "'The replica "
            "failed.' trouble: true"},
        Row{"concluded_early",
            "concluded { outcome: SUCCEEDED stopped_early: true error_message: 'Median.' }",
            "kind: 'concluded' text: 'It is stopped early: other trials have better results.' detail: "
            "'Median.'"},
        Row{"concluded", "concluded { outcome: SUCCEEDED }",
            "kind: 'concluded' text: 'The program succeeded; the replicas that still run are being "
            "stopped.'"},
        Row{"concluded_cancelled", "concluded { outcome: CANCELLED }",
            "kind: 'concluded' text: 'It ended; the replicas that still run are being stopped.'"},
        Row{"ended", "ended { }",
            "kind: 'ended' text: 'Finished: all its processes have ended, and its log is complete.'"},
        Row{"patched", "patched { labels { key: 'team' value: 'x' } }",
            "kind: 'patched' text: 'The labels were changed.' detail: 'team=x'"},
        Row{"patched_away", "patched { }", "kind: 'patched' text: 'All labels were removed.'"},
        Row{"policy_set", "policy_set { policy { } }",
            "kind: 'policy_set' text: 'The access policy was set.'"},
        Row{"trial_created", "trial_created { trial_id: '2' hyperparameters { key: 'a' value: '0.5' } }",
            "kind: 'trial_created' trial_id: '2' text: 'Trial 2 was suggested.' detail: 'a=0.5'"},
        Row{"trial_succeeded",
            "trial_ended { trial_id: '2' state: SUCCEEDED final_metric { objective_value: 0.25 "
            "training_step: 10 "
            "} }",
            "kind: 'trial_ended' trial_id: '2' text: 'Trial 2 succeeded: its metric is 0.25 at step 10.'"},
        Row{"trial_failed", "trial_ended { trial_id: '2' state: FAILED error_message: 'Exit code 1.' }",
            "kind: 'trial_ended' trial_id: '2' text: 'Trial 2 failed.' detail: 'Exit code 1.' trouble: true"},
        Row{"trial_cancelled", "trial_ended { trial_id: '2' state: CANCELLED }",
            "kind: 'trial_ended' trial_id: '2' text: 'Trial 2 was cancelled.'"},
        Row{"trial_stopped_early", "trial_ended { trial_id: '2' state: SUCCEEDED stopped_early: true }",
            "kind: 'trial_ended' trial_id: '2' text: 'Trial 2 was stopped early.'"},
        Row{"space_exhausted", "space_exhausted { }",
            "kind: 'space_exhausted' text: 'All points of the search space were tried: no further trial will "
            "start.'"},
        Row{"trial_measured", "trial_measured { report { measurements { step: 1 value: 2 } } }",
            "kind: 'trial_measured' text: 'The program has reported 1 value of the metric.'"},
        Row{"trial_measured_nothing", "trial_measured { no_metric: 'No tag loss in the file.' }",
            "kind: 'trial_measured' text: 'The program has reported no value of the metric.' detail: 'No tag "
            "loss in the file.'"},
        Row{"images_resolved",
            "images_resolved { images { image: 'a:1' } images { image: 'b:2' } notes: 'n.' }",
            "kind: 'images_resolved' text: 'The registry answered; the images were found: a:1, b:2.' "
            "detail: "
            "'n.'"},
        Row{"of_a_newer_server", "", ""}),
    [](const auto& row) { return row.param.name; });

TEST(EntryOf, KnowsEveryKindOfEvent) {
  const auto* kinds = Event::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) {
    Event event;
    auto* kind = event.GetReflection()->MutableMessage(&event, kinds->field(i));
    if (const auto* replica = kind->GetDescriptor()->FindFieldByName("replica"))
      dynamic_cast<replica::v1::ReplicaId&>(*kind->GetReflection()->MutableMessage(kind, replica))
          .set_type(replica::v1::MASTER);
    const Entry entry = EntryOf(event);
    EXPECT_EQ(entry.kind(), kinds->field(i)->name());
    EXPECT_TRUE(entry.text().ends_with('.')) << entry.kind();
  }
}

TEST(EntryOf, CutsLongDetails) {
  Event event;
  for (int i = 0; i < 10'000; ++i) event.mutable_retry_decided()->mutable_reason()->append("\xC3\xA9");
  const Entry entry = EntryOf(event);
  EXPECT_LE(entry.detail().size(), kDetailBytesMax);
  EXPECT_TRUE(wire::IsUtf8(entry.detail()));
}

TEST(AddWait, SaysWhatTheJobWaitsFor) {
  Entry entry = EntryOf(Parse("created { }"));
  AddWait(std::nullopt, entry);
  EXPECT_EQ(entry.detail(), "");
  AddWait(Waiting{.cause = "shortage", .position = 1, .reason = "No CPU is free.", .unblock = "Wait."},
          entry);
  EXPECT_EQ(entry.detail(), "No CPU is free. Wait.");
}

}  // namespace
}  // namespace trainyard::jobs
