// Writes finished jobs into the job store of a data directory, as if they had run there. Its server must be
// stopped.
//
//   fill_history DATA COUNT [LINES]   projects/bench/jobs/history_0 to history_(COUNT-1); one in a hundred is
//   FAILED; the log of the last one has so many lines
//
// Each has the events of a short job, so that the file has a realistic size.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "long_log.h"
#include "rules/jobs/transition_table.h"
#include "stores/store/job_store.h"

namespace trainyard::bench {
namespace {

using control::v1::Event;
using control::v1::JobRecord;

constexpr int kGroup = 2000;
constexpr int kFailedOneIn = 100;
constexpr std::int64_t kHistorySeconds = 30 * 86'400;  // ended long ago, but recently enough to be listed

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "fill_history: %s\n", what.c_str());
  std::exit(1);
}

std::int64_t FirstCreateTime() {
  static const std::int64_t now = std::time(nullptr);
  return now - kHistorySeconds;
}

JobRecord NewJob(int number) {
  JobRecord record;
  record.set_project("bench");
  record.set_cluster_hash("0123456789");
  record.set_runtime_version("2.15");
  record.add_replicas()->mutable_id()->set_type(replica::v1::MASTER);
  ml::v1::Job& job = *record.mutable_job();
  job.set_job_id("history_" + std::to_string(number));
  job.mutable_create_time()->set_seconds(FirstCreateTime() + number);
  job.set_state(ml::v1::Job::QUEUED);
  (*job.mutable_labels())["team"] = "team-" + std::to_string(number % 1000);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_python_module("trainer.task");
  input.add_package_uris("gs://bucket/packages/0123456789abcdef/trainer-0.1.tar.gz");
  for (const char* arg :
       {"--learning-rate=0.01", "--batch-size=128", "--train-files=gs://bucket/data/train*"})
    input.add_args(arg);
  return record;
}

/// The events of a job that took a minute.
class Life {
 public:
  Life(store::JobStore& store, int number) : store_(store), failed_(number % kFailedOneIn == 0) {
    Event created = Next();
    *created.mutable_created()->mutable_record() = NewJob(number);
    Apply(created);
    auto uid = store_.Create(record_, created);
    if (!uid) Die(uid.error().message);
    record_.set_uid(*uid);
  }

  [[nodiscard]] const JobRecord& record() const noexcept { return record_; }

  void Live() {
    Event admitted = Next();
    replica::v1::Grant& grant = *admitted.mutable_admitted()->mutable_grant();
    grant.set_try_number(1);
    grant.add_slots()->set_address("127.1.0.1");
    grant.mutable_slots(0)->set_port(20000);
    Append(admitted);
    Event launched = Next();
    *launched.mutable_launched()->add_replicas() = record_.replicas(0).id();
    Append(launched);
    Event running = Next();
    replica::v1::Endpoint& endpoint = *running.mutable_running()->add_endpoints();
    *endpoint.mutable_replica() = record_.replicas(0).id();
    endpoint.set_host_name("cmle-training-master-0123456789-0");
    endpoint.set_address("127.1.0.1");
    endpoint.set_port(20000);
    Append(running);
    Event ended = Next();
    Event::ReplicaEnded& replica = *ended.mutable_replica_ended();
    *replica.mutable_replica() = record_.replicas(0).id();
    replica.set_attempt(1);
    replica.mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
    replica.mutable_exit()->set_exit_code(failed_ ? 1 : 0);
    Append(ended);
    Event concluded = Next();
    concluded.mutable_concluded()->set_outcome(failed_ ? ml::v1::Job::FAILED : ml::v1::Job::SUCCEEDED);
    if (failed_)
      concluded.mutable_concluded()->set_error_message("The replica master 0 exited with status 1.");
    Append(concluded);
    Event end = Next();
    end.mutable_ended();
    Append(end);
  }

 private:
  Event Next() {
    Event event;
    event.set_seq(record_.revision() + 1);
    const std::int64_t create_time = record_.job().create_time().seconds();
    event.mutable_time()->set_seconds((create_time == 0 ? FirstCreateTime() : create_time) +
                                      10 * record_.revision());
    return event;
  }
  void Apply(const Event& event) {
    auto after = jobs::Apply(record_, event);
    if (!after) Die(after.error().message);
    record_ = *std::move(after);
  }
  void Append(const Event& event) {
    Apply(event);
    if (auto stored = store_.Append(record_, event); !stored) Die(stored.error().message);
  }

  store::JobStore& store_;
  JobRecord record_;
  bool failed_;
};

JobRecord LiveOnce(store::JobStore& store, int number) {
  Life life(store, number);
  life.Live();
  return life.record();
}

void Fill(const std::filesystem::path& data, int count, std::int64_t lines) {
  auto store = store::JobStore::Open(data / "trainyard.db");
  if (!store) Die(store.error().message);
  JobRecord last;
  for (int number = 0; number < count;) {
    if (auto begun = (*store)->Begin(); !begun) Die(begun.error().message);
    for (const int end = std::min(count, number + kGroup); number < end; ++number)
      last = LiveOnce(**store, number);
    if (auto committed = (*store)->Commit(); !committed) Die(committed.error().message);
  }
  if (lines > 0)
    WriteLongLog(data / "logs.db",
                 {.job_uid = last.uid(), .project = last.project(), .job_id = last.job().job_id()}, lines);
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: fill_history DATA COUNT [LINES]\n");
    return 2;
  }
  trainyard::bench::Fill(argv[1], std::atoi(argv[2]), argc == 4 ? std::atoll(argv[3]) : 0);
  return 0;
}
