#include "rules/jobs/timeline.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/number.h"
#include "base/wire/utf8.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/failure_message.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using text::Counted;

using control::v1::Event;
using control::v1::JobRecord;
using ml::v1::HyperparameterOutput;
using ml::v1::Job;
using replica::v1::ExitRecord;
using Entry = control::v1::JobTimeline::Entry;

constexpr int kNamesMax = 4;  ///< of replicas and images in one sentence

void Say(std::string text, std::string_view detail, Entry& entry) {
  entry.set_text(std::move(text));
  entry.set_detail(std::string(detail.substr(0, wire::Utf8Prefix(detail, kDetailBytesMax))));
}

/// "a, b" or "a, b, c, d and 3 more".
template <class Items, class NameOf>
std::string Listed(const Items& items, NameOf name_of) {
  std::string list;
  for (int i = 0; i < std::min<int>(items.size(), kNamesMax); ++i)
    list += (i == 0 ? "" : ", ") + name_of(items[i]);
  if (items.size() > kNamesMax) list += " and " + std::to_string(items.size() - kNamesMax) + " more";
  return list;
}

template <class Texts>
std::string Joined(const Texts& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : " ") + text;
  return joined;
}

/// "rate=0.1, units=3", by name.
std::string Parameters(const google::protobuf::Map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : std::map<std::string, std::string>(values.begin(), values.end()))
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

void Tell(const Event::Created& created, Entry& entry) {
  const JobRecord& record = created.record();
  entry.set_trial_id(record.trial().trial_id());
  if (record.has_trial())
    return Say("The trial was created and waits for resources.", Parameters(record.trial().hyperparameters()),
               entry);
  const std::string by = record.creator().empty() ? "" : " by " + record.creator();
  Say("The job was created" + by + ".", Joined(record.remarks()), entry);
}

void Tell(const Event::Admitted& admitted, Entry& entry) {
  std::set<std::string> nodes;
  for (const replica::v1::Slot& slot : admitted.grant().slots()) nodes.insert(slot.node());
  const bool is_here = nodes.empty() || (nodes.size() == 1 && nodes.begin()->empty());
  const std::string where =
      is_here ? "on this machine" : "on " + Counted(static_cast<std::int64_t>(nodes.size()), "node");
  std::string detail = Joined(admitted.grant().notes());
  if (!admitted.runtime_version().empty())
    detail += (detail.empty() ? "" : " ") +
              ("The runtime version on these resources is " + admitted.runtime_version() + ".");
  if (admitted.grant().slots().empty())  // a tuning job: its trials have the resources
    return Say("The job starts; each of its trials waits for its own resources.", detail, entry);
  Say("Resources allocated: " + Counted(admitted.grant().slots_size(), "replica") + " " + where + ".", detail,
      entry);
}

void Tell(const Event::Revoked& revoked, Entry& entry) {
  entry.set_trouble(true);
  Say("The resources were taken back; the job waits for resources again.", revoked.reason(), entry);
}

void Tell(const Event::Launched& launched, Entry& entry) {
  if (launched.replicas_size() == 1) entry.set_replica(cluster::TaskName(launched.replicas(0)));
  const std::string names = Listed(launched.replicas(), cluster::TaskName);
  Say((launched.replicas_size() == 1 ? "The replica is being prepared: "
                                     : "The replicas are being prepared: ") +
          names + ".",
      "", entry);
}

void Tell(const Event::Running&, Entry& entry) { Say("All replicas are running the program.", "", entry); }

/// "exit code 1".
std::string StatusOf(const ExitRecord& exit) {
  switch (exit.cause()) {
    case ExitRecord::EXITED: return "exit code " + std::to_string(exit.exit_code());
    case ExitRecord::SIGNALED: return "signal " + std::to_string(exit.signal());
    case ExitRecord::OUT_OF_MEMORY: return "out of memory";
    case ExitRecord::PREPARATION_FAILED: return "it could not be prepared";
    case ExitRecord::STOPPED: return "it was stopped";
    case ExitRecord::LOST: return "it was lost";
    case ExitRecord::SHUT_DOWN: return "its machine or service was stopped";
    default: return "nothing more is known";
  }
}

void Tell(const Event::ReplicaEnded& ended, Entry& entry) {
  const ExitRecord& exit = ended.exit();
  const std::string name = cluster::TaskName(ended.replica());
  entry.set_replica(name);
  entry.set_attempt(ended.attempt());
  const bool was_stopped = exit.cause() == ExitRecord::STOPPED;
  const bool is_done = JudgeExit(exit) == Verdict::kDone;
  entry.set_trouble(!is_done && !was_stopped);
  const std::string detail =
      exit.has_diagnosis() ? exit.diagnosis().summary() + " " + exit.diagnosis().advice() : exit.message();
  if (is_done) return Say(name + " ended: " + StatusOf(exit) + ".", "", entry);
  Say(name + (was_stopped ? " ended: " : " failed: ") + StatusOf(exit) + ".", detail, entry);
}

void Tell(const Event::RestartDecided& restart, Entry& entry) {
  entry.set_replica(cluster::TaskName(restart.replica()));
  entry.set_trouble(true);
  Say(entry.replica() + " is started again" + (restart.has_not_before() ? " after a pause." : "."),
      restart.reason(), entry);
}

void Tell(const Event::RetryDecided& retry, Entry& entry) {
  entry.set_trouble(true);
  Say("The whole job starts again once all replicas have ended.", retry.reason(), entry);
}

void Tell(const Event::RetryStarted&, Entry& entry) {
  Say("All replicas have ended; the job starts again.", "", entry);
}

void Tell(const Event::CancelRequested& cancel, Entry& entry) {
  Say("The job is being cancelled.", cancel.reason(), entry);
}

void Tell(const Event::MaintenanceRequested& requested, Entry& entry) {
  entry.set_replica(cluster::TaskName(requested.replica()));
  entry.set_attempt(requested.attempt());
  Say(entry.replica() + " is stopped for maintenance and starts again.", "", entry);
}

void Tell(const Event::Concluded& concluded, Entry& entry) {
  entry.set_trouble(concluded.outcome() == Job::FAILED);
  if (concluded.stopped_early())
    return Say("It is stopped early: other trials have better results.", concluded.error_message(), entry);
  if (concluded.outcome() == Job::SUCCEEDED)
    return Say("The program succeeded; the replicas that still run are being stopped.", "", entry);
  if (concluded.outcome() == Job::FAILED)
    return Say("It failed; the replicas that still run are being stopped.", concluded.error_message(), entry);
  Say("It ended; the replicas that still run are being stopped.", concluded.error_message(), entry);
}

void Tell(const Event::Ended&, Entry& entry) {
  Say("Finished: all its processes have ended, and its log is complete.", "", entry);
}

void Tell(const Event::Patched& patched, Entry& entry) {
  const std::string labels = Parameters(patched.labels());
  Say(labels.empty() ? "All labels were removed." : "The labels were changed.", labels, entry);
}

void Tell(const Event::PolicySet&, Entry& entry) { Say("The access policy was set.", "", entry); }

void Tell(const Event::TrialCreated& created, Entry& entry) {
  entry.set_trial_id(created.trial_id());
  Say("Trial " + created.trial_id() + " was suggested.", Parameters(created.hyperparameters()), entry);
}

void Tell(const Event::TrialEnded& ended, Entry& entry) {
  entry.set_trial_id(ended.trial_id());
  entry.set_trouble(ended.state() == HyperparameterOutput::FAILED);
  std::string text = "Trial " + ended.trial_id();
  if (ended.stopped_early())
    text += " was stopped early";
  else if (ended.state() == HyperparameterOutput::SUCCEEDED)
    text += " succeeded";
  else
    text += ended.state() == HyperparameterOutput::FAILED ? " failed" : " was cancelled";
  if (ended.has_final_metric())
    text += ": its metric is " + MetricText(ended.final_metric().objective_value()) + " at step " +
            std::to_string(ended.final_metric().training_step());
  Say(text + ".", ended.error_message(), entry);
}

void Tell(const Event::SpaceExhausted&, Entry& entry) {
  Say("All points of the search space were tried: no further trial will start.", "", entry);
}

void Tell(const Event::TrialMeasured& measured, Entry& entry) {
  const int count = measured.report().measurements_size();
  Say(count == 0 ? "The program has reported no value of the metric."
                 : "The program has reported " + Counted(count, "value") + " of the metric.",
      measured.no_metric(), entry);
}

void Tell(const Event::ImagesResolved& resolved, Entry& entry) {
  const auto name = [](const control::v1::ImageRecord& image) { return image.image(); };
  Say("The registry answered; the images were found: " + Listed(resolved.images(), name) + ".",
      Joined(resolved.notes()), entry);
}

void Tell(const Event& event, Entry& entry) {
  switch (event.kind_case()) {
    case Event::kCreated: return Tell(event.created(), entry);
    case Event::kAdmitted: return Tell(event.admitted(), entry);
    case Event::kRevoked: return Tell(event.revoked(), entry);
    case Event::kLaunched: return Tell(event.launched(), entry);
    case Event::kRunning: return Tell(event.running(), entry);
    case Event::kReplicaEnded: return Tell(event.replica_ended(), entry);
    case Event::kRestartDecided: return Tell(event.restart_decided(), entry);
    case Event::kRetryDecided: return Tell(event.retry_decided(), entry);
    case Event::kRetryStarted: return Tell(event.retry_started(), entry);
    case Event::kCancelRequested: return Tell(event.cancel_requested(), entry);
    case Event::kMaintenanceRequested: return Tell(event.maintenance_requested(), entry);
    case Event::kConcluded: return Tell(event.concluded(), entry);
    case Event::kEnded: return Tell(event.ended(), entry);
    case Event::kPatched: return Tell(event.patched(), entry);
    case Event::kPolicySet: return Tell(event.policy_set(), entry);
    case Event::kTrialCreated: return Tell(event.trial_created(), entry);
    case Event::kTrialEnded: return Tell(event.trial_ended(), entry);
    case Event::kSpaceExhausted: return Tell(event.space_exhausted(), entry);
    case Event::kTrialMeasured: return Tell(event.trial_measured(), entry);
    case Event::kImagesResolved: return Tell(event.images_resolved(), entry);
    case Event::KIND_NOT_SET: return;
  }
}

/// The name of the kind in record.proto: "replica_ended".
std::string KindOf(const Event& event) {
  const auto* kind =
      event.GetReflection()->GetOneofFieldDescriptor(event, Event::descriptor()->FindOneofByName("kind"));
  return kind == nullptr ? "" : kind->name();
}

}  // namespace

Entry EntryOf(const Event& event) {
  Entry entry;
  entry.set_seq(event.seq());
  if (event.has_time()) *entry.mutable_time() = event.time();
  entry.set_kind(KindOf(event));
  Tell(event, entry);
  return entry;
}

void AddWait(const std::optional<Waiting>& waiting, Entry& last) {
  if (!waiting) return;
  std::string detail = last.detail();
  for (const std::string& sentence : {waiting->reason, waiting->unblock})
    if (!sentence.empty()) detail += (detail.empty() ? "" : " ") + sentence;
  Say(last.text(), detail, last);
}

}  // namespace trainyard::jobs
