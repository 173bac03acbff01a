
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/wire/time.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using ml::v1::Job;

constexpr Event::KindCase kKinds[] = {Event::kCreated,         Event::kAdmitted,
                                      Event::kLaunched,        Event::kRunning,
                                      Event::kReplicaEnded,    Event::kRestartDecided,
                                      Event::kRetryDecided,    Event::kRetryStarted,
                                      Event::kCancelRequested, Event::kConcluded,
                                      Event::kEnded,           Event::kPatched,
                                      Event::kPolicySet,       Event::kMaintenanceRequested,
                                      Event::kImagesResolved};
constexpr Stage kStages[] = {Stage::kNone,     Stage::kQueued,    Stage::kPreparing,  Stage::kRunning,
                             Stage::kRetrying, Stage::kFinishing, Stage::kCancelling, Stage::kEnded};

Event At(Event event, int second) {
  event.mutable_time()->set_seconds(second);
  return event;
}

replica::v1::ReplicaId Master() {
  replica::v1::ReplicaId id;
  id.set_type(replica::v1::MASTER);
  return id;
}

/// An event that fits a record on which `steps` of the same kind were made.
Event Make(Event::KindCase kind, const JobRecord& record) {
  Event event;
  const int attempt = record.replicas().empty() ? 1 : record.replicas(0).attempt();
  switch (kind) {
    case Event::kCreated: {
      Job job;
      job.set_job_id("census_1");
      *event.mutable_created()->mutable_record() = MakeRecord("p", job, "2.15", SysTime{});
      event.mutable_created()->mutable_record()->add_images()->set_image("a:1");
      break;
    }
    case Event::kAdmitted:
      event.mutable_admitted()->mutable_grant()->set_try_number(record.try_number() + 1);
      event.mutable_admitted()->mutable_grant()->add_slots();
      event.mutable_admitted()->mutable_grant()->add_notes("shared");
      break;
    case Event::kRevoked:
      event.mutable_revoked()->set_try_number(record.try_number());
      event.mutable_revoked()->set_reason("node-1 is lost.");
      break;
    case Event::kLaunched: *event.mutable_launched()->add_replicas() = Master(); break;
    case Event::kRunning: event.mutable_running(); break;
    case Event::kReplicaEnded:
      *event.mutable_replica_ended()->mutable_replica() = Master();
      event.mutable_replica_ended()->set_attempt(attempt);
      event.mutable_replica_ended()->mutable_exit()->set_cause(replica::v1::ExitRecord::LOST);
      break;
    case Event::kRestartDecided: *event.mutable_restart_decided()->mutable_replica() = Master(); break;
    case Event::kRetryDecided: event.mutable_retry_decided()->set_reason("why"); break;
    case Event::kRetryStarted: event.mutable_retry_started(); break;
    case Event::kCancelRequested: event.mutable_cancel_requested()->set_reason("because"); break;
    case Event::kConcluded:
      event.mutable_concluded()->set_outcome(Job::FAILED);
      event.mutable_concluded()->set_error_message("it broke");
      break;
    case Event::kEnded: event.mutable_ended(); break;
    case Event::kPatched: (*event.mutable_patched()->mutable_labels())["a"] = "b"; break;
    case Event::kPolicySet: event.mutable_policy_set()->mutable_policy()->set_version(1); break;
    case Event::kMaintenanceRequested:
      *event.mutable_maintenance_requested()->mutable_replica() = Master();
      event.mutable_maintenance_requested()->set_attempt(attempt);
      break;
    case Event::kTrialCreated: event.mutable_trial_created()->set_trial_id("1"); break;
    case Event::kTrialEnded: event.mutable_trial_ended()->set_trial_id("1"); break;
    case Event::kSpaceExhausted: event.mutable_space_exhausted(); break;
    case Event::kTrialMeasured: event.mutable_trial_measured(); break;
    case Event::kImagesResolved: {
      control::v1::ImageRecord& image = *event.mutable_images_resolved()->add_images();
      image.set_image("a:1");
      image.set_reference("a@sha256:0");
      image.set_digest("sha256:0");
      event.mutable_images_resolved()->add_notes("a note");
      break;
    }
    case Event::KIND_NOT_SET: break;
  }
  return event;
}

JobRecord After(std::initializer_list<Event::KindCase> kinds) {
  JobRecord record;
  int second = 100;
  for (const Event::KindCase kind : kinds) {
    const auto after = Apply(record, At(Make(kind, record), second += 1800));
    EXPECT_TRUE(after) << EventName(kind) << ": " << after.error().message;
    if (after) record = *after;
  }
  return record;
}

/// Records in which every transition of the table can happen: with a live attempt, or an ended one.
std::multimap<Stage, JobRecord> Samples() {
  using E = Event;
  std::multimap<Stage, JobRecord> samples;
  for (const JobRecord& record :
       {JobRecord{}, After({E::kCreated}), After({E::kCreated, E::kAdmitted}),
        After({E::kCreated, E::kAdmitted, E::kLaunched}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kReplicaEnded}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRunning}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRunning, E::kReplicaEnded}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRunning, E::kReplicaEnded, E::kRestartDecided}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRunning, E::kRetryDecided}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRunning, E::kConcluded}),
        After({E::kCreated, E::kCancelRequested}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kCancelRequested}),
        After({E::kCreated, E::kAdmitted, E::kLaunched, E::kRevoked}),
        After({E::kCreated, E::kCancelRequested, E::kEnded})}) {
    samples.emplace(StageOf(record), record);
  }
  return samples;
}

TEST(Apply, AcceptsExactlyTheTable) {
  const auto samples = Samples();
  for (const Stage stage : kStages) {
    for (const Event::KindCase kind : kKinds) {
      const Transition* row = FindTransition(stage, kind);
      bool accepted = false;
      const auto [first, last] = samples.equal_range(stage);
      for (auto sample = first; sample != last; ++sample) {
        const auto after = Apply(sample->second, At(Make(kind, sample->second), 9000));
        if (!after) {
          EXPECT_EQ(after.error().code, Code::kFailedPrecondition);
          continue;
        }
        accepted = true;
        EXPECT_EQ(after->revision(), sample->second.revision() + 1);
        ASSERT_NE(row, nullptr) << StageName(stage) << " + " << EventName(kind);
        if (row->to != Stage::kResumed) EXPECT_EQ(StageOf(*after), row->to);
      }
      EXPECT_EQ(accepted, row != nullptr) << StageName(stage) << " + " << EventName(kind);
    }
  }
}

TEST(Apply, AnImageIsResolvedOnce) {
  const JobRecord created = After({Event::kCreated});
  const Event resolved = Make(Event::kImagesResolved, created);
  const auto after = Apply(created, At(resolved, 9000));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->images(0).ShortDebugString(), resolved.images_resolved().images(0).ShortDebugString());
  EXPECT_EQ(after->notes(0), "a note");
  EXPECT_EQ(Apply(*after, At(resolved, 9001)).error().message,
            "a job that is Queued cannot have the event ImagesResolved: a:1 is not to be resolved");
  Event other = resolved;
  other.mutable_images_resolved()->mutable_images(0)->set_image("b:1");
  EXPECT_FALSE(Apply(created, At(other, 9000)));
  other.mutable_images_resolved()->clear_images();
  EXPECT_FALSE(Apply(created, At(other, 9000)));
}

TEST(Apply, NothingLeavesTheEnd) {
  const JobRecord ended = After({Event::kCreated, Event::kCancelRequested, Event::kEnded});
  for (const Event::KindCase kind : kKinds) {
    const auto after = Apply(ended, Make(kind, ended));
    if (after) EXPECT_EQ(after->job().state(), Job::CANCELLED);
    EXPECT_EQ(after.has_value(), kind == Event::kPatched || kind == Event::kPolicySet);
  }
}

TEST(Apply, FillsInTheTimesAndTheUnits) {
  const JobRecord record = After({Event::kCreated, Event::kAdmitted, Event::kLaunched, Event::kRunning,
                                  Event::kReplicaEnded, Event::kConcluded, Event::kPatched, Event::kEnded});
  EXPECT_EQ(record.job().state(), Job::FAILED);
  EXPECT_EQ(record.job().error_message(), "it broke");
  EXPECT_EQ(record.job().start_time().seconds(), 100 + 2 * 1800);
  EXPECT_EQ(record.running_time().seconds(), 100 + 4 * 1800);
  EXPECT_EQ(record.job().end_time().seconds(), 100 + 8 * 1800);
  EXPECT_DOUBLE_EQ(record.job().training_output().consumed_ml_units(), 1.16);  // 3 h x 0.3878, cut
  EXPECT_EQ(record.job().labels().at("a"), "b");
  EXPECT_EQ(record.notes_size(), 1);
  EXPECT_EQ(record.revision(), 8);
}

/// The units that a job consumes from second `start` to second `end`.
double Consumed(const ml::v1::TrainingInput& input, int start, int end) {
  Job job;
  job.set_job_id("j");
  *job.mutable_training_input() = input;
  Event created;
  *created.mutable_created()->mutable_record() = MakeRecord("p", job, "2.15", SysTime{});
  JobRecord record = *Apply({}, created);
  record = *Apply(record, At(Make(Event::kAdmitted, record), start));
  record = *Apply(record, Make(Event::kConcluded, record));
  record = *Apply(record, At(Make(Event::kEnded, record), end));
  return record.job().training_output().consumed_ml_units();
}

TEST(Apply, UnitsAreTheOriginals) {  // spec cluster.md sections 1, 3 and 8
  constexpr int kHour = 3600;
  using ml::v1::AcceleratorConfig;
  using ml::v1::TrainingInput;
  struct Row {
    const char* name;
    TrainingInput::ScaleTier tier;
    const char* master;
    AcceleratorConfig::Type accelerator;
    int count;
    const char* worker;
    int seconds;
    double units;
  };
  constexpr auto kNo = AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
  const Row rows[] = {
      {"the spec's sample: 1.9331 x 0.96 h", TrainingInput::CUSTOM, "n1-highmem-16", kNo, 0, "", 57 * 60 + 36,
       1.85},
      {"basic", TrainingInput::BASIC, "", kNo, 0, "", kHour, 0.38},
      {"no hundredth is lost: 1.1576 x 125", TrainingInput::CUSTOM, "n1-highcpu-16", kNo, 0, "", 125 * kHour,
       144.70},
      {"legacy GPU: included", TrainingInput::BASIC_GPU, "", kNo, 0, "", kHour, 1.69},
      {"legacy, 4 K80", TrainingInput::CUSTOM, "complex_model_m_gpu", kNo, 0, "", kHour, 5.22},
      {"attached K80: apart, whatever stood for it", TrainingInput::CUSTOM, "n1-standard-8",
       AcceleratorConfig::NVIDIA_TESLA_K80, 1, "", kHour, 1.69},
      {"TPU: the worker's VM", TrainingInput::BASIC_TPU, "", kNo, 0, "", kHour, 9.57},
      {"TPU beside a Compute Engine master", TrainingInput::CUSTOM, "n1-standard-4", kNo, 0, "cloud_tpu",
       kHour, 9.57},
      {"less than a hundredth", TrainingInput::BASIC, "", kNo, 0, "", 60, 0.01}};
  for (const Row& row : rows) {
    TrainingInput input;
    input.set_scale_tier(row.tier);
    if (row.tier == TrainingInput::CUSTOM) input.set_master_type(row.master);
    if (row.count > 0) {
      input.mutable_master_config()->mutable_accelerator_config()->set_type(row.accelerator);
      input.mutable_master_config()->mutable_accelerator_config()->set_count(row.count);
    }
    if (*row.worker != 0) input.set_worker_type(row.worker), input.set_worker_count(1);
    EXPECT_DOUBLE_EQ(Consumed(input, 1000, 1000 + row.seconds), row.units) << row.name;
  }
}

TEST(Apply, ARetryKeepsTheStateAndCountsAttemptsOn) {
  JobRecord record = After({Event::kCreated, Event::kAdmitted, Event::kLaunched, Event::kRunning,
                            Event::kReplicaEnded, Event::kRestartDecided, Event::kLaunched,
                            Event::kReplicaEnded, Event::kRetryDecided, Event::kRetryStarted});
  EXPECT_EQ(StageOf(record), Stage::kRunning);
  EXPECT_EQ(record.replicas(0).restarts(), 0);
  EXPECT_EQ(record.retries(), 1);
  record = *Apply(record, Make(Event::kLaunched, record));
  EXPECT_EQ(record.replicas(0).attempt(), 3);
  EXPECT_FALSE(record.replicas(0).has_exit());
  record = After({Event::kCreated, Event::kAdmitted, Event::kLaunched, Event::kReplicaEnded,
                  Event::kRetryDecided, Event::kRetryStarted});
  EXPECT_EQ(StageOf(record), Stage::kPreparing);
}

TEST(Apply, RefusesWhatDoesNotFitTheRecord) {
  const JobRecord queued = After({Event::kCreated});
  Event admitted;
  admitted.mutable_admitted()->mutable_grant()->set_try_number(1);
  EXPECT_FALSE(Apply(queued, admitted)) << "no slot";
  const JobRecord launched = After({Event::kCreated, Event::kAdmitted, Event::kLaunched});
  EXPECT_FALSE(Apply(launched, Make(Event::kLaunched, launched)))
      << "a living attempt is never launched over";
  Event old = Make(Event::kReplicaEnded, launched);
  old.mutable_replica_ended()->set_attempt(0);
  EXPECT_FALSE(Apply(launched, old));
  old.mutable_replica_ended()->set_attempt(2);
  EXPECT_FALSE(Apply(launched, old)) << "an attempt that is not there";
  EXPECT_FALSE(Apply(launched, Make(Event::kRestartDecided, launched))) << "it has not ended";
  const JobRecord ended = After({Event::kCreated, Event::kAdmitted, Event::kLaunched, Event::kReplicaEnded});
  EXPECT_FALSE(Apply(ended, Make(Event::kReplicaEnded, ended))) << "the same end twice";
  EXPECT_FALSE(Apply(ended, Make(Event::kLaunched, ended))) << "not without a decision";
  Event stranger = Make(Event::kLaunched, queued);
  stranger.mutable_launched()->mutable_replicas(0)->set_index(4);
  EXPECT_FALSE(Apply(After({Event::kCreated, Event::kAdmitted}), stranger));
  Event odd = Make(Event::kConcluded, launched);
  odd.mutable_concluded()->set_outcome(Job::RUNNING);
  EXPECT_FALSE(Apply(launched, odd)) << "that is no outcome";
  EXPECT_EQ(Apply(queued, Make(Event::kRunning, queued)).error(),
            FailedPrecondition("a job that is Queued cannot have the event Running"));
}

TEST(Apply, ChecksTheSequenceNumber) {
  const JobRecord queued = After({Event::kCreated});
  Event cancel = Make(Event::kCancelRequested, queued);
  cancel.set_seq(2);
  EXPECT_TRUE(Apply(queued, cancel));
  cancel.set_seq(3);
  EXPECT_FALSE(Apply(queued, cancel));
  cancel.set_seq(1);
  EXPECT_FALSE(Apply(queued, cancel));
}

/// The rows "| 1 Queued | Admitted | 2 Preparing |" of docs/lifecycle.md.
TEST(Transitions, AreThoseOfTheDocument) {
  std::ifstream file(TRAINYARD_LIFECYCLE_DOC);
  ASSERT_TRUE(file) << TRAINYARD_LIFECYCLE_DOC;
  std::set<std::string> documented;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| ") && line.size() > 2 && std::isdigit(static_cast<unsigned char>(line[2])) != 0 &&
        line.find("` |") != std::string::npos) {
      documented.insert(line.substr(0, line.find(" |", line.find("` |") + 3) + 2));
    }
  }
  std::set<std::string> real;
  for (const Transition& row : Transitions()) {
    std::ostringstream text;
    text << "| " << static_cast<int>(row.from) << ' ' << StageName(row.from) << " | `" << EventName(row.event)
         << "` | ";
    if (row.to == Stage::kResumed) {
      text << "2 or 3 |";
    } else {
      text << static_cast<int>(row.to) << ' ' << StageName(row.to) << " |";
    }
    real.insert(text.str());
  }
  EXPECT_EQ(documented, real);
}

}  // namespace
}  // namespace trainyard::jobs
