#include "rules/jobs/testing/model_job.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/timestamp.pb.h>

#include <functional>
#include <utility>

#include "base/check.h"
#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/peers.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using google::protobuf::Message;
using ml::v1::Job;
using replica::v1::ExitRecord;
using std::chrono::nanoseconds;

/// Times before this make no difference to the rules: no window reaches farther back.
constexpr SysTime kLongAgo = ModelJob::kNow - kPeerWindow - std::chrono::seconds(1);
/// The rules' time limits of days and weeks are not part of the model.
constexpr std::chrono::minutes kWakeMax{5};

SysTime Older(SysTime time, nanoseconds by) { return std::max(time - by, kLongAgo); }

/// Makes all times in the message older.
void Age(Message& message, nanoseconds by) {
  if (message.GetDescriptor() == google::protobuf::Timestamp::descriptor()) {
    auto& time = static_cast<google::protobuf::Timestamp&>(message);
    time = wire::ToProto(Older(wire::FromProto(time), by));
    return;
  }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (!field->is_repeated()) {
      Age(*reflection.MutableMessage(&message, field), by);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      Age(*reflection.MutableRepeatedMessage(&message, field, i), by);
  }
}

/// Resets the fields that only count, because the rules never compare them.
void ForgetCounters(control::v1::JobRecord& record) {
  record.set_revision(1);
  for (auto* time :
       {record.mutable_job()->has_start_time() ? record.mutable_job()->mutable_start_time() : nullptr,
        record.has_running_time() ? record.mutable_running_time() : nullptr}) {
    if (time != nullptr) *time = wire::ToProto(kLongAgo);
  }
}

using End = ModelJob::End;
using Attempt = ModelJob::Attempt;

constexpr SysTime kNow = ModelJob::kNow;

std::int64_t Count(SysTime time) { return time.time_since_epoch().count(); }

ReplicaObservation& Seen(ModelJob& job, int replica) {
  return job.seen.replicas[static_cast<std::size_t>(replica)];
}
Attempt& Truth(ModelJob& job, int replica) { return job.truth[static_cast<std::size_t>(replica)]; }

/// The attempt ends; what its program did for its peers fails there.
void Finish(ModelJob& job, int replica, End end) {
  Attempt& truth = Truth(job, replica);
  const bool ran = truth.phase == replica::v1::RUNNING;
  truth.end = end;
  truth.end_time = Count(kNow);
  truth.phase = replica::v1::ENDED;
  if (end == End::kOk || !ran) return;
  for (Attempt& peer : job.truth) {
    if (peer.alive() && peer.phase == replica::v1::RUNNING) peer.lost_peer = true;
  }
}

ExitRecord ExitOf(const Attempt& truth) {
  ExitRecord exit;
  *exit.mutable_end_time() = wire::ToProto(SysTime(nanoseconds(truth.end_time)));
  const bool by_itself = truth.end == End::kOk || truth.end == End::kFailed;
  if (by_itself) *exit.mutable_start_time() = wire::ToProto(kLongAgo);
  exit.set_cause(by_itself                    ? ExitRecord::EXITED
                 : truth.end == End::kStopped ? ExitRecord::STOPPED
                                              : ExitRecord::LOST);
  if (truth.end == End::kFailed) exit.set_exit_code(1);
  return exit;
}

/// The supervisor, or its remains, tell the server how far the attempt has come.
void SeeTruth(ModelJob& job, int replica) {
  const Attempt& truth = Truth(job, replica);
  ReplicaObservation& seen = Seen(job, replica);
  seen.phase = truth.phase;
  if (truth.phase == replica::v1::READY || truth.phase == replica::v1::RUNNING) {
    *seen.endpoint.emplace().mutable_replica() = job.record.replicas(replica).id();
    seen.endpoint->set_port(2222);
  }
  if (!truth.alive()) seen.exit = ExitOf(truth);
}

void Connect(ModelJob& job, int replica) {
  ReplicaObservation& seen = Seen(job, replica);
  seen.away = seen.cluster_sent = seen.stop_sent = seen.hurry_sent = seen.kill_sent = false;
  SeeTruth(job, replica);
}

std::string CheckEnd(ModelJob& job) {
  if (job.Living() != 0) return "the job has ended, and an attempt of it lives";
  switch (job.record.job().state()) {
    case Job::SUCCEEDED:
      return Truth(job, 0).end == End::kOk && job.IsCurrent(0) ? ""
                                                               : "the job has succeeded without its master";
    case Job::FAILED: return job.has_failed ? "" : "the job has failed for another's fault";
    case Job::CANCELLED: return job.is_cancelled ? "" : "nobody cancelled the job";
    default: return "the job has ended in no final state";
  }
}

/// Returns what it has broken.
std::string Record(ModelJob& job, Event event) {
  if (job.ended()) return "an event after the end";
  *event.mutable_time() = wire::ToProto(kNow);
  const auto after = Apply(job.record, event);
  if (!after) return after.error().message;
  job.record = *after;
  ForgetCounters(job.record);
  for (const replica::v1::ReplicaId& id : event.launched().replicas()) {
    for (int i = 0; i < job.record.replicas_size(); ++i) {
      if (cluster::TaskName(job.record.replicas(i).id()) == cluster::TaskName(id)) Seen(job, i) = {};
    }
  }
  return event.has_ended() ? CheckEnd(job) : "";
}

// Performs an action as the control loop does. Each returns what it has broken.
std::string Perform(ModelJob& job, const AppendEvent& action) { return Record(job, action.event); }
std::string Perform(ModelJob&, const ResolveImages&) { return "there are no images to look up"; }
std::string Perform(ModelJob&, const MeasureTrial&) { return "the job is not a trial"; }
std::string Perform(ModelJob&, const WakeAt&) { return ""; }

std::string Perform(ModelJob& job, const ReserveRoom& action) {
  const int before = std::exchange(job.seen.asked_try, action.try_number);
  return before < action.try_number ? "" : "resources were requested already";
}

std::string Perform(ModelJob& job, const StartReplica& action) {
  Attempt& truth = Truth(job, action.replica);
  const control::v1::ReplicaRecord& record = job.record.replicas(action.replica);
  if (truth.alive()) return "a replica runs twice";
  if (truth.number >= record.attempt()) return "an attempt is started twice";
  if (!job.record.reserved()) return "an attempt is started without a grant";
  truth = {.number = record.attempt(),
           .of_try = job.record.try_number(),
           .machine = record.slot().port(),
           .phase = replica::v1::PREPARING};
  Seen(job, action.replica).started = true;
  return "";
}

std::string Perform(ModelJob& job, const OpenBarrier& action) {
  Seen(job, action.replica).cluster_sent = true;
  const bool whole = std::ranges::all_of(job.truth, [&](const Attempt& peer) {
    return peer.of_try == job.record.try_number() && (peer.phase >= replica::v1::READY || !peer.alive());
  });
  return whole ? "" : "the barrier opens for half of a gang";
}

std::string Perform(ModelJob& job, const StopReplica& action) {
  ReplicaObservation& seen = Seen(job, action.replica);
  NoteSent(action, seen);
  if (!seen.stop_time) seen.stop_time = kNow + GraceOf(action, kSuccessGrace);
  // A kill comes from outside of the supervisor, and needs no connection.
  const bool lives = Truth(job, action.replica).alive() && job.IsCurrent(action.replica);
  if (action.kill && lives) Finish(job, action.replica, End::kStopped);
  return "";
}

/// Collects the steps from one value.
class Steps {
 public:
  explicit Steps(const ModelJob& job) : job_(job) {}

  /// `change` makes the next value, and returns what it has broken.
  template <class Change>
  ModelStep& Add(std::string label, unsigned fault, const Change& change) {
    steps_.push_back({.label = std::move(label), .fault = fault, .next = job_});
    steps_.back().broken = change(steps_.back().next);
    return steps_.back();
  }
  /// A step of one replica, which breaks nothing by itself.
  template <class Change>
  void AddOf(int replica, const std::string& what, unsigned fault, const Change& change) {
    const std::string label = cluster::ReplicaLabel(job_.record.replicas(replica).id());
    Add(label + what, fault, [&](ModelJob& next) {
      change(next);
      return std::string();
    });
  }
  [[nodiscard]] std::vector<ModelStep> Take() { return std::move(steps_); }

 private:
  const ModelJob& job_;
  std::vector<ModelStep> steps_;
};

/// Only the first action: the rest follows from the next decision, and the server may be killed between any
/// two.
void AddServerStep(const ModelJob& job, Steps& steps) {
  for (const Action& action : NextActions(job.record, job.seen, kNow)) {
    if (std::holds_alternative<WakeAt>(action)) continue;
    const auto* append = std::get_if<AppendEvent>(&action);
    const auto* start = std::get_if<StartReplica>(&action);
    const std::string what = append != nullptr
                                 ? "records " + std::string(EventName(append->event.kind_case()))
                             : start != nullptr ? "starts a replica"
                                                : "gives an order";
    ModelStep& step = steps.Add("the server " + what, 0, [&](ModelJob& next) {
      return std::visit([&next](const auto& one) { return Perform(next, one); }, action);
    });
    if (start != nullptr) step.needs_up = 1U << job.record.replicas(start->replica).slot().port();
    return;
  }
}

void AddGrants(const ModelJob& job, Steps& steps) {
  const int wanted = job.record.try_number() + 1;
  if (job.record.reserved() || job.seen.asked_try < wanted) return;
  if (job.seen.grant && job.seen.grant->try_number() == wanted) return;
  const int size = job.record.replicas_size();
  for (int first = 0; first + size <= ModelJob::kMachines; ++first) {
    replica::v1::Grant grant;
    grant.set_try_number(wanted);
    unsigned machines = 0;
    for (int machine = first; machine < first + size; ++machine) {
      grant.add_slots()->set_port(machine);  // the number of the machine is its port
      machines |= 1U << machine;
    }
    ModelStep& step = steps.Add("the engine grants machines", 0, [&](ModelJob& next) {
      next.seen.grant = grant;
      return std::string();
    });
    step.needs_free = step.needs_up = machines;
  }
}

/// The engine reports the loss of a machine on which it has granted a slot.
void AddTakenBack(const ModelJob& job, Steps& steps) {
  const int granted_try = job.record.reserved() ? job.record.try_number()
                          : job.seen.grant      ? job.seen.grant->try_number()
                                                : 0;
  if (job.lost_try == 0 || job.lost_try != granted_try || job.seen.taken_back) return;
  steps.Add("the engine takes the slots back", 0, [&](ModelJob& next) {
    next.seen.taken_back = {
        .try_number = job.lost_try, .kind = placement::RoomEnd::kLost, .reason = "A machine is lost."};
    return std::string();
  });
}

void AddReplicaSteps(const ModelJob& job, int replica, Steps& steps) {
  const auto add = [&](const std::string& what, const auto& change) {
    steps.AddOf(replica, what, 0, change);
  };
  const Attempt& truth = job.truth[static_cast<std::size_t>(replica)];
  const ReplicaObservation& seen = job.seen.replicas[static_cast<std::size_t>(replica)];
  if (job.IsNews(replica)) add(" is heard", [&](ModelJob& next) { SeeTruth(next, replica); });
  if (!truth.alive()) return;
  if (seen.away) add(" connects", [&](ModelJob& next) { Connect(next, replica); });
  if (seen.cluster_sent && !seen.away && !truth.has_cluster)
    add(" gets the cluster", [&](ModelJob& next) { Truth(next, replica).has_cluster = true; });
  if (seen.stop_sent && !seen.away && !truth.has_stop)
    add(" is told to stop", [&](ModelJob& next) { Truth(next, replica).has_stop = true; });
  if (truth.has_stop) add(" stops", [&](ModelJob& next) { Finish(next, replica, End::kStopped); });
  if (truth.phase == replica::v1::PREPARING && !truth.has_stop)
    add(" is ready", [&](ModelJob& next) { Truth(next, replica).phase = replica::v1::READY; });
  if (truth.phase == replica::v1::READY && truth.has_cluster && !truth.has_stop)
    add(" runs", [&](ModelJob& next) { Truth(next, replica).phase = replica::v1::RUNNING; });
  if (truth.phase != replica::v1::RUNNING) return;
  add(" ends with 0", [&](ModelJob& next) { Finish(next, replica, End::kOk); });
  if (truth.lost_peer)
    add(" fails for its peer", [&](ModelJob& next) { Finish(next, replica, End::kFailed); });
}

void AddReplicaFaults(const ModelJob& job, int replica, Steps& steps) {
  const Attempt& truth = job.truth[static_cast<std::size_t>(replica)];
  const ReplicaObservation& seen = job.seen.replicas[static_cast<std::size_t>(replica)];
  steps.AddOf(replica, "'s supervisor is killed", kSupervisorKill,
              [&](ModelJob& next) { Finish(next, replica, End::kLost); });
  if (!seen.away && seen.phase != replica::v1::PHASE_UNSPECIFIED)
    steps.AddOf(replica, "'s connection breaks", kLinkCut,
                [&](ModelJob& next) { Seen(next, replica).away = true; });
  if (truth.phase == replica::v1::RUNNING)
    steps.AddOf(replica, " fails by itself", kProgramFailure, [&](ModelJob& next) {
      next.has_failed = true;
      Finish(next, replica, End::kFailed);
    });
  Event event;
  *event.mutable_maintenance_requested()->mutable_replica() = job.record.replicas(replica).id();
  event.mutable_maintenance_requested()->set_attempt(job.record.replicas(replica).attempt());
  ModelJob moved = job;
  if (Record(moved, event).empty())
    steps.AddOf(replica, " is moved", kMaintenance, [&](ModelJob& next) { next = moved; });
}

}  // namespace

ModelJob::ModelJob(int workers) {
  Job request;
  request.set_job_id("model");
  auto& input = *request.mutable_training_input();
  input.set_region("us-central1");
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  if (workers > 0) {
    input.set_worker_type("n1-standard-4");
    input.set_worker_count(workers);
  }
  Event created;
  *created.mutable_created()->mutable_record() = MakeRecord("my-project", request, "2.15", kLongAgo);
  TY_CHECK(Record(*this, std::move(created)).empty());
  truth.resize(static_cast<std::size_t>(record.replicas_size()));
  seen.replicas.resize(truth.size());
}

bool ModelJob::IsCurrent(int replica) const {
  const int number = truth[static_cast<std::size_t>(replica)].number;
  return number > 0 && number == record.replicas(replica).attempt();
}

bool ModelJob::IsNews(int replica) const {
  const auto at = static_cast<std::size_t>(replica);
  if (!IsCurrent(replica) || record.replicas(replica).has_exit() || !seen.replicas[at].started) return false;
  const ReplicaObservation& known = seen.replicas[at];
  return truth[at].alive() ? !known.away && known.phase < truth[at].phase : !known.exit;
}

unsigned ModelJob::Living() const {
  unsigned machines = 0;
  for (const Attempt& attempt : truth) {
    if (attempt.alive()) machines |= 1U << attempt.machine;
  }
  return machines;
}

unsigned ModelJob::Held() const {
  unsigned machines = Living();
  if (ended()) return machines;
  if (record.reserved()) {
    for (const auto& replica : record.replicas()) machines |= 1U << replica.slot().port();
  } else if (seen.grant && seen.grant->try_number() > record.try_number()) {
    for (const auto& slot : seen.grant->slots()) machines |= 1U << slot.port();
  }
  return machines;
}

std::string ModelJob::Key() const {
  std::string key = record.SerializeAsString();
  const auto add_one = [&key](std::int64_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto add = [&add_one](auto... values) { (add_one(values), ...); };
  add(seen.asked_try, seen.grant ? seen.grant->try_number() : 0, lost_try, has_failed, is_cancelled,
      seen.taken_back ? seen.taken_back->try_number : 0);
  if (seen.grant) key += seen.grant->SerializeAsString();
  for (const ReplicaObservation& one : seen.replicas) {
    add(one.started, one.away, static_cast<int>(one.phase), one.endpoint.has_value(), one.cluster_sent,
        one.stop_sent, one.hurry_sent, one.kill_sent, one.exit.has_value(),
        one.stop_time ? Count(*one.stop_time) : 0);
    if (one.exit) key += one.exit->SerializeAsString();
  }
  for (const Attempt& one : truth) {
    add(one.number, one.of_try, one.machine, static_cast<int>(one.phase), static_cast<int>(one.end),
        one.has_cluster, one.has_stop, one.lost_peer, one.end_time);
  }
  return key;
}

std::string ModelJob::Describe() const {
  std::string text(StageName(StageOf(record)));
  for (int i = 0; i < record.replicas_size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    text += "; " + cluster::ReplicaLabel(record.replicas(i).id()) + " attempt " +
            std::to_string(record.replicas(i).attempt()) +
            (truth[at].alive() ? " alive in phase " + std::to_string(truth[at].phase) : " not alive") +
            (seen.replicas[at].away ? ", away" : "");
  }
  return text;
}

std::vector<ModelStep> StepsOf(const ModelJob& job) {
  Steps steps(job);
  AddServerStep(job, steps);
  if (job.ended()) return steps.Take();
  AddGrants(job, steps);
  AddTakenBack(job, steps);
  for (int i = 0; i < job.record.replicas_size(); ++i) {
    if (job.IsCurrent(i) && !job.record.replicas(i).has_exit()) AddReplicaSteps(job, i, steps);
  }
  return steps.Take();
}

std::vector<ModelStep> FaultsOf(const ModelJob& job) {
  Steps steps(job);
  if (job.ended()) return {};
  for (int i = 0; i < job.record.replicas_size(); ++i) {
    const bool lives = job.IsCurrent(i) && job.truth[static_cast<std::size_t>(i)].alive();
    if (lives && !job.record.replicas(i).has_exit()) AddReplicaFaults(job, i, steps);
  }
  steps.Add("a user cancels it", kCancel, [](ModelJob& next) {
    Event event;
    event.mutable_cancel_requested()->set_reason("Cancelled by a user.");
    next.is_cancelled = true;
    return Record(next, std::move(event));
  });
  return steps.Take();
}

std::optional<nanoseconds> UntilWake(const ModelJob& job) {
  std::optional<nanoseconds> until;
  for (int i = 0; i < job.record.replicas_size(); ++i) {
    if (job.IsNews(i)) return nanoseconds(0);
  }
  for (const Action& action : NextActions(job.record, job.seen, kNow)) {
    const auto* wake = std::get_if<WakeAt>(&action);
    if (wake != nullptr && wake->time > kNow && wake->time - kNow <= kWakeMax) until = wake->time - kNow;
  }
  return until;
}

ModelJob AfterPassing(ModelJob job, nanoseconds time) {
  Age(job.record, time);
  for (ReplicaObservation& seen : job.seen.replicas) {
    if (seen.stop_time) seen.stop_time = Older(*seen.stop_time, time);
    if (seen.exit) Age(*seen.exit, time);
  }
  for (Attempt& attempt : job.truth) {
    if (attempt.end != End::kNone)
      attempt.end_time = Count(Older(SysTime(nanoseconds(attempt.end_time)), time));
  }
  return job;
}

ModelJob AfterServerCrash(ModelJob job) {
  job.seen = {};
  job.seen.replicas.resize(job.truth.size());
  for (int i = 0; i < job.record.replicas_size(); ++i) {
    // An attempt that was launched and never started is started again.
    Seen(job, i).started = job.IsCurrent(i);
    Seen(job, i).away = job.IsCurrent(i) && Truth(job, i).alive();
  }
  return job;
}

ModelJob AfterMachineLoss(ModelJob job, int machine) {
  const auto is_there = [&](const replica::v1::Slot& slot) { return slot.port() == machine; };
  for (int i = 0; i < job.record.replicas_size(); ++i) {
    if (Truth(job, i).alive() && Truth(job, i).machine == machine) Finish(job, i, End::kLost);
    if (job.record.reserved() && is_there(job.record.replicas(i).slot()))
      job.lost_try = job.record.try_number();
  }
  if (!job.record.reserved() && job.seen.grant && std::ranges::any_of(job.seen.grant->slots(), is_there))
    job.lost_try = job.seen.grant->try_number();
  return job;
}

}  // namespace trainyard::jobs
