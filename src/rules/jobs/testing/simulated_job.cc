#include "rules/jobs/testing/simulated_job.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {

using control::v1::Event;

SimulatedJob::SimulatedJob(const std::string& input) : now_(std::chrono::seconds{1'700'000'000}) {
  ml::v1::Job request;
  request.set_job_id("census_1");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(input, request.mutable_training_input()))
      << input;
  Event created;
  *created.mutable_created()->mutable_record() = MakeRecord("my-project", request, "2.15", now_);
  Record(std::move(created));
  seen_.replicas.resize(static_cast<std::size_t>(job_.replicas_size()));
  attempts_.resize(seen_.replicas.size());
}

std::string SimulatedJob::Label(int replica) const {
  return cluster::ReplicaLabel(job_.replicas(replica).id());
}

void SimulatedJob::Record(Event event) {
  *event.mutable_time() = wire::ToProto(now_);
  const auto after = Apply(job_, event);
  ASSERT_TRUE(after) << after.error().message;
  job_ = *after;
  for (const ServiceLine& line : LinesFor(job_, event)) lines_.push_back(line.text);
  events_.push_back(event);
  NoteRecorded(event, job_, seen_);
}

void SimulatedJob::ExpectAsForetold(const Event& event) {
  if (foretold_.empty()) {
    const Result<Step> first = StepAfter(job_, event, now_);
    ASSERT_TRUE(first) << first.error().message;
    Steps steps{*first};
    AddFollowing(steps, seen_, nullptr, now_);
    for (Event& each : EventsOf(steps)) foretold_.push_back(std::move(each));
  }
  EXPECT_EQ(EventName(foretold_.front().kind_case()), EventName(event.kind_case()));
  foretold_.pop_front();
}

std::vector<std::string> SimulatedJob::Settle() {
  constexpr int kRoundsMax = 1000;
  std::vector<std::string> done;
  for (int round = 0; round < kRoundsMax; ++round) {
    wake_time_.reset();
    const std::vector<Action> actions = NextActions(job_, seen_, now_);
    const std::size_t before = done.size();
    const bool is_event = actions.size() == 1 && std::holds_alternative<AppendEvent>(actions[0]);
    EXPECT_TRUE(is_event || foretold_.empty()) << "the foretold events do not follow";
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (std::holds_alternative<AppendEvent>(actions[i]))
        EXPECT_EQ(i + 1, actions.size()) << "an event is the last action";
      std::visit([&](const auto& action) { Perform(action, done); }, actions[i]);
    }
    if (testing::Test::HasFatalFailure()) return done;
    if (lose_starts_ && done.size() > before && done.back().starts_with("start")) {
      lose_starts_ = false;
      RestartServer();
      continue;
    }
    if (done.size() == before) return done;
  }
  ADD_FAILURE() << "the rules never come to rest";
  return done;
}

void SimulatedJob::Perform(const AppendEvent& action, std::vector<std::string>& done) {
  done.emplace_back(EventName(action.event.kind_case()));
  ExpectAsForetold(action.event);
  Record(action.event);
}

void SimulatedJob::Perform(const ResolveImages&, std::vector<std::string>& done) {
  done.emplace_back("resolve images");
  ASSERT_FALSE(std::exchange(seen_.images.asking, true)) << "asked already";
}

void SimulatedJob::Perform(const ReserveRoom& action, std::vector<std::string>&) {
  ASSERT_LT(seen_.asked_try, action.try_number) << "asked already";
  seen_.asked_try = action.try_number;
}

void SimulatedJob::Perform(const StartReplica& action, std::vector<std::string>& done) {
  Attempt& truth = Truth(action.replica);
  ASSERT_FALSE(truth.alive) << Label(action.replica) << " would run twice";
  ASSERT_LT(truth.number, job_.replicas(action.replica).attempt())
      << Label(action.replica) << ": the attempt was started before";
  done.push_back("start " + Label(action.replica));
  if (lose_starts_) return;
  truth = {.number = job_.replicas(action.replica).attempt(),
           .alive = true,
           .phase = replica::v1::PREPARING,
           .exit = {}};
  Seen(action.replica).started = true;
  ++starts_;
}

void SimulatedJob::Perform(const OpenBarrier& action, std::vector<std::string>& done) {
  ASSERT_FALSE(Seen(action.replica).cluster_sent) << "done already";
  ASSERT_EQ(Seen(action.replica).phase, replica::v1::READY);
  done.push_back("open " + Label(action.replica));
  Seen(action.replica).cluster_sent = true;
}

void SimulatedJob::Perform(const StopReplica& action, std::vector<std::string>& done) {
  ReplicaObservation& seen = Seen(action.replica);
  ASSERT_FALSE(action.kill    ? seen.kill_sent
               : action.hurry ? seen.hurry_sent
                              : seen.stop_sent)
      << "done already";
  ASSERT_TRUE(seen.started);
  const bool moves = action.reason == "Host maintenance.";
  done.push_back((action.kill    ? "kill "
                  : action.hurry ? "hurry "
                  : moves        ? "move "
                                 : "stop ") +
                 Label(action.replica));
  NoteSent(action, seen);
  if (!seen.stop_time)
    seen.stop_time = now_ + (action.short_grace ? kSuccessGrace : std::chrono::milliseconds());
}

void SimulatedJob::Perform(const MeasureTrial&, std::vector<std::string>& done) {
  ASSERT_FALSE(seen_.measured) << "measured twice";
  seen_.measured.emplace();
  done.emplace_back("measure");
}

void SimulatedJob::Perform(const WakeAt& action, std::vector<std::string>&) {
  ASSERT_FALSE(wake_time_) << "one time to wake at is enough";
  wake_time_ = action.time;
}

void SimulatedJob::Admit() {
  replica::v1::Grant grant;
  grant.set_try_number(job_.try_number() + 1);
  for (int i = 0; i < job_.replicas_size(); ++i) grant.add_slots()->set_port(20000 + i);
  grant.add_notes("It shares this machine.");
  seen_.grant = std::move(grant);
}

void SimulatedJob::Revoke(const std::string& reason) {
  seen_.taken_back = {.try_number = job_.try_number(), .kind = placement::RoomEnd::kLost, .reason = reason};
  for (int i = 0; i < job_.replicas_size(); ++i) {
    if (IsAlive(i)) End(i, replica::v1::ExitRecord::LOST);
  }
}

void SimulatedJob::SayEndpoint(int replica) {
  const replica::v1::Phase phase = Seen(replica).phase;
  if (phase != replica::v1::READY && phase != replica::v1::RUNNING) return;
  replica::v1::Endpoint& endpoint = Seen(replica).endpoint.emplace();
  *endpoint.mutable_replica() = job_.replicas(replica).id();
  endpoint.set_port(job_.replicas(replica).slot().port());
}

void SimulatedJob::Reach(int replica, replica::v1::Phase phase) {
  Attempt& truth = Truth(replica);
  ASSERT_TRUE(truth.alive);
  truth.phase = std::max(truth.phase, phase);
  Seen(replica).phase = truth.phase;
  SayEndpoint(replica);
}

void SimulatedJob::End(int replica, replica::v1::ExitRecord::Cause cause, int status,
                       std::chrono::nanoseconds ago) {
  Attempt& truth = Truth(replica);
  ASSERT_TRUE(truth.alive);
  replica::v1::ExitRecord exit;
  exit.set_cause(cause);
  *exit.mutable_end_time() = wire::ToProto(now_ - ago);
  (cause == replica::v1::ExitRecord::SIGNALED) ? exit.set_signal(status) : exit.set_exit_code(status);
  truth.alive = false;
  truth.phase = replica::v1::ENDED;
  truth.exit = exit;
  Seen(replica).phase = truth.phase;
  Seen(replica).exit = exit;
}

void SimulatedJob::Cancel(const std::string& reason) {
  Event event;
  event.mutable_cancel_requested()->set_reason(reason);
  Record(std::move(event));
}

void SimulatedJob::Maintain(int replica) {
  const control::v1::ReplicaRecord& record = job_.replicas(replica);
  Event event;
  *event.mutable_maintenance_requested()->mutable_replica() = record.id();
  event.mutable_maintenance_requested()->set_attempt(record.attempt());
  if (Apply(job_, event)) Record(std::move(event));
}

void SimulatedJob::BringUp() {
  Admit();
  Settle();
  for (const auto phase : {replica::v1::READY, replica::v1::RUNNING}) {
    for (int i = 0; i < job_.replicas_size(); ++i) Reach(i, phase);
    Settle();
  }
}

void SimulatedJob::RestartServer() {
  seen_ = {};
  seen_.replicas.resize(attempts_.size());
  for (int i = 0; i < job_.replicas_size(); ++i) {
    const Attempt& truth = Truth(i);
    if (truth.number == 0 || truth.number != job_.replicas(i).attempt()) continue;  // launched, never started
    Seen(i).started = true;
    if (!truth.alive) Seen(i).exit = truth.exit;
    if (!truth.alive) Seen(i).phase = replica::v1::ENDED;
  }
}

void SimulatedJob::Reconnect(int replica) {
  Seen(replica).phase = Truth(replica).phase;
  SayEndpoint(replica);
  Seen(replica).cluster_sent = Seen(replica).stop_sent = Seen(replica).kill_sent = false;
}

bool SimulatedJob::IsStopping(int replica) const {
  return seen_.replicas[static_cast<std::size_t>(replica)].stop_sent;
}

bool SimulatedJob::IsOpen(int replica) const {
  return seen_.replicas[static_cast<std::size_t>(replica)].cluster_sent;
}

bool SimulatedJob::AnyAlive() const {
  return std::ranges::any_of(attempts_, [](const Attempt& attempt) { return attempt.alive; });
}

}  // namespace trainyard::jobs
