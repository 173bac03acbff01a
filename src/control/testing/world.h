#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "control/job_service.h"
#include "engine/admissions.h"
#include "engine/fake/fake_attempt_host.h"
#include "engine/fake/fake_engine.h"
#include "engine/local/local_engine.h"
#include "engine/testing/loop.h"
#include "programs/environment/catalogue.h"
#include "stores/logs/log_store.h"
#include "stores/storage/buckets.h"
#include "stores/store/journal.h"
#include "stores/store/secret_store.h"

/// A whole server around the control loop, for its tests: real logs, buckets and journal, jobs in an
/// in-memory database, simulated replicas. Resources are this machine's, or with
/// TRAINYARD_TEST_ALLOCATOR=cluster those of a simulated cluster. KillServer() and StartServer() are a kill
/// -9 and a new server on the same data.
namespace trainyard::control {

using engine::FakeScript;
using ml::v1::Job;
using replica::v1::ExitRecord;
using replica::v1::Manifest;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Names = std::vector<std::string>;

class FakeClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return SysTime(std::chrono::nanoseconds(now_.load())); }
  void Advance(std::chrono::nanoseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_{1'600'000'000'000'000'000};
};

/// Kills a simulated server at one of the syncs of its jobs and logs: from then on nothing more is stored,
/// until Disarm.
class KillPoint {
 public:
  /// Not stored; stored, but the server does not learn of it; stored, and the server goes on to the next one.
  enum class At { kBefore, kUnseen, kAfter };
  void Arm(At at, int syncs) {
    at_ = at;
    left_ = syncs;
    reached_ = false;
  }
  void Disarm() { Arm(At::kBefore, -1); }
  [[nodiscard]] bool reached() const { return reached_; }

  struct Fate {
    bool stored = true;
    bool reported = true;
  };
  /// Counts the next sync, and says what becomes of it.
  Fate Next() {
    if (reached_) return {.stored = false, .reported = false};
    if (left_ < 0 || --left_ > 0) return {};
    left_ = -1;
    reached_ = true;
    return {.stored = at_ != At::kBefore, .reported = at_ == At::kAfter};
  }

 private:
  std::atomic<At> at_{At::kBefore};
  std::atomic<int> left_{-1};
  std::atomic<bool> reached_{false};
};

/// A job store that fails when told to. Set from the loop, used by the journal's thread.
class FaultyStore final : public store::JobStore {
 public:
  FaultyStore() : JobStore(std::move(*Open(":memory:").value())) {}

  std::atomic<bool> full{false};         ///< every commit and read fails
  std::atomic<bool> lies{false};         ///< the next commit is reported as failed although it succeeds
  std::atomic<std::int64_t> appends{0};  ///< events that are stored
  std::atomic<int> refused{0};           ///< commits that failed
  KillPoint kill;

  using JobStore::Append;
  Status Append(const store::JobRecord& after, std::span<const store::Event> events) override {
    appends += std::ssize(events);
    return JobStore::Append(after, events);
  }
  Result<store::JobRecord> Get(std::string_view project, std::string_view job_id) override {
    if (full) return std::unexpected(Full());
    return JobStore::Get(project, job_id);
  }
  Result<store::JobPage> List(std::string_view project, int size, std::string_view token) override {
    if (full) return std::unexpected(Full());
    return JobStore::List(project, size, token);
  }
  Result<std::vector<store::JobRecord>> Trials(std::int64_t uid, std::int64_t after, int count) override {
    if (full) return std::unexpected(Full());
    return JobStore::Trials(uid, after, count);
  }
  Result<store::ChangePage> Changed(std::string_view project, std::string_view token, int count) override {
    if (full) return std::unexpected(Full());
    return JobStore::Changed(project, token, count);
  }
  Status Commit() override {
    if (full) {
      ++refused;
      Rollback();
      return std::unexpected(Full());
    }
    const KillPoint::Fate fate = kill.Next();
    if (!fate.stored) {
      Rollback();
      return std::unexpected(Full());
    }
    TY_RETURN_IF_ERROR(JobStore::Commit());
    if (lies.exchange(false) || !fate.reported) return std::unexpected(Full());
    return {};
  }

 private:
  static Error Full() { return {Code::kResourceExhausted, "the disk is full", ""}; }
};

/// Logs that fail when told to. Loop thread only.
class FaultyLogs final : public logs::LogStore {
 public:
  explicit FaultyLogs(LogStore&& real) : LogStore(std::move(real)) {}
  bool full = false;
  int refuse_next = 0;  ///< so many chunks of replicas are not stored
  int refused = 0;
  KillPoint* kill = nullptr;
  bool are_uncountable = false;  ///< NextLines fails: jobs that wait are not taken over

  boost::asio::awaitable<Result<logs::StoredLines>> Append(logs::LogSource source,
                                                           replica::v1::LogChunk chunk) override;
  boost::asio::awaitable<Result<std::vector<std::int64_t>>> NextLines(std::vector<std::int64_t> job_uids,
                                                                      std::string source) override;
};

/// The simulated replicas, behind a host that can be made to fail.
class FaultyHost final : public engine::AttemptHost {
 public:
  explicit FaultyHost(engine::FakeAttemptHost& fake) : fake_(fake) {}

  std::optional<Error> inspect_error;  ///< Inspect cannot tell
  std::optional<Error> collect_error;  ///< Collect fails
  std::optional<Error> forget_error;   ///< Forget fails
  int forgets_refused = 0;
  std::deque<Error> start_errors;    ///< the next Starts fail
  bool starts_all_the_same = false;  ///< such a Start starts something nevertheless
  std::vector<std::string> killed;
  std::vector<std::string> forgotten;

  void SetOnGone(OnGone on_gone) override {
    on_gone_ = on_gone;
    fake_.SetOnGone(std::move(on_gone));
  }
  void SayGone(const std::string& attempt_id) { on_gone_(attempt_id); }
  boost::asio::awaitable<Status> Start(replica::v1::Manifest manifest, engine::Slot slot) override;
  boost::asio::awaitable<engine::Inspection> Inspect(engine::AttemptRef attempt) override;
  boost::asio::awaitable<Result<std::vector<engine::AttemptRef>>> List() override { return fake_.List(); }
  boost::asio::awaitable<Result<Holding>> HoldingOf(engine::AttemptRef attempt) override {
    return fake_.HoldingOf(std::move(attempt));
  }
  boost::asio::awaitable<Result<Remains>> Collect(engine::AttemptRef attempt, std::int64_t from) override;
  boost::asio::awaitable<Status> Kill(engine::AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(engine::AttemptRef attempt) override;
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(engine::AttemptRef attempt,
                                                            shell::TerminalSize size) override {
    return fake_.OpenShell(std::move(attempt), size);
  }

 private:
  engine::FakeAttemptHost& fake_;
  OnGone on_gone_;
};

/// The connection between replicas and server: without a server, frames are dropped.
class Wire final : public engine::ReplicaLinkObserver {
 public:
  JobService* server = nullptr;
  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) override;
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                       engine::FromReplica frame) override;
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override;
};

/// A connection whose other end is the test.
class RecordingLink final : public engine::ReplicaLink {
 public:
  void Send(engine::ToReplica frame) override { sent.push_back(std::move(frame)); }
  void Close() override { closed = true; }
  std::vector<engine::ToReplica> sent;
  bool closed = false;
};

class World : public testing::Test {
 protected:
  explicit World(placement::Capacity capacity = {.mode = placement::Capacity::Mode::kShare,
                                                 .cpus = 64,
                                                 .memory_bytes = std::int64_t{1} << 40});
  ~World() override;

  void StartServer();
  /// A server that has not taken over anything yet.
  void MakeServer();
  /// The next servers get their resources from a simulated cluster with these nodes, for so many replicas
  /// each.
  void UseCluster(const std::vector<std::string>& nodes, int replicas);
  void KillServer();
  /// A client's call that runs concurrently with the test; it ends with the server.
  template <class T>
  void Spawn(boost::asio::awaitable<T> call) {
    if (!clients_) clients_ = std::make_unique<TaskGroup>(loop_.context.get_executor());
    clients_->Spawn(Forget(std::move(call)));
  }
  template <class T>
  static boost::asio::awaitable<void> Forget(boost::asio::awaitable<T> call) {
    co_await std::move(call);
  }

  template <class T>
  T Await(boost::asio::awaitable<T> task) {
    return loop_.Run(std::move(task));
  }
  [[nodiscard]] bool RunUntil(const std::function<bool()>& done) { return loop_.RunUntil(done); }

  static ml::v1::Job MakeJob(const std::string& job_id, int workers = 0);
  static Result<v1::JobRecord> RecordOf(Result<JobMaker::NewJob> made) {
    if (!made) return std::unexpected(std::move(made).error());
    return std::move(made->record);
  }

  Result<ml::v1::Job> Create(ml::v1::Job job) { return Await(service_->Create("p", std::move(job))); }
  ml::v1::Job Get(const std::string& job_id);
  Status Cancel(const std::string& job_id) { return Await(service_->Cancel({"p", job_id})); }
  [[nodiscard]] bool WaitForState(const std::string& job_id, ml::v1::Job::State state);
  [[nodiscard]] bool WaitForEnd(const std::string& job_id, ml::v1::Job::State state);
  /// No job has a runner, and nothing of any job is left.
  [[nodiscard]] bool WaitUntilQuiet();
  /// The attempt host has something of the attempt.
  bool IsKept(const std::string& attempt_id);

  v1::JobRecord Record(const std::string& job_id);
  std::vector<v1::Event> EventsOf(const v1::JobRecord& job);
  std::vector<v1::JobRecord> TrialsOf(const v1::JobRecord& job);
  std::vector<std::string> EventNames(const std::string& job_id);
  /// The lines of the job's log, "TASK: text", or only those of one task without the prefix.
  std::vector<std::string> Lines(const std::string& job_id, const std::string& task = "");

  static replica::v1::ExitRecord Exit(int code);
  /// Every attempt was started once, and no two attempts of a replica ran at the same time.
  void ExpectNothingStartedTwice();

  engine::Loop loop_;
  FakeClock clock_;
  std::filesystem::path folder_;
  FaultyStore store_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<FaultyLogs> logs_;
  boost::asio::thread_pool files_{1};
  std::unique_ptr<storage::Buckets> buckets_;
  std::unique_ptr<store::SecretStore> secrets_;
  environment::Catalogue catalogue_;
  std::unique_ptr<engine::FakeAttemptHost> replicas_;
  std::unique_ptr<FaultyHost> host_;
  Wire wire_;
  placement::Capacity capacity_;
  placement::DevicePool devices_;  ///< for the next server
  engine::PortLeases::Probe probe_ = [](int) { return true; };
  Settings settings_;
  std::set<std::string> silent_;  ///< attempts whose supervisors do not connect to the next server
  bool has_space_ = true;         ///< the disk has space for one more job
  placement::Quotas quotas_;      ///< for the next server
  ImageRegistries registries_;    ///< for the next server; without a resolver, and without a way to find one,
                                  ///< no job has images
  std::unique_ptr<engine::LocalEngine> local_;   ///< this machine's resources; null: the cluster's
  std::unique_ptr<engine::FakeEngine> cluster_;  ///< null: this machine's resources are used
  std::optional<engine::Admissions> admissions_;
  std::unique_ptr<JobMaker> maker_;
  std::unique_ptr<JobService> service_;
  std::unique_ptr<TaskGroup> clients_;
};

}  // namespace trainyard::control
