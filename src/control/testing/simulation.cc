#include "control/testing/simulation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/async/task_group.h"
#include "base/check.h"
#include "base/wire/time.h"
#include "control/run/pause.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {

using boost::asio::awaitable;
using engine::FromReplica;
using ml::v1::Job;
using replica::v1::ExitRecord;
using replica::v1::Manifest;
using std::chrono::milliseconds;

namespace {

constexpr const char* kJobs = "/simulated/jobs.db";
constexpr const char* kLogs = "/simulated/logs.db";
constexpr std::array<const char*, 3> kNodes = {"node-1", "node-2", "node-3"};
constexpr int kReplicasOfNode = 1;
constexpr int kActions = 40;
constexpr int kStepsMax = 200'000;

environment::Catalogue OneRuntime() {
  environment::RuntimeVersion runtime;
  runtime.version = "2.15";
  runtime.pythons = {"3.11"};
  return environment::Catalogue({runtime});
}

Job MakeJob(const std::string& job_id, int workers) {
  Job job;
  job.set_job_id(job_id);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_python_module("trainer.task");
  input.add_package_uris("gs://packages/trainer.tar.gz");
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  if (workers > 0) {
    input.set_worker_type("n1-standard-4");
    input.set_worker_count(workers);
  }
  return job;
}

Settings ShortPauses() {
  return {.keys = Keys::Derive("secret"),
          .stop_grace = milliseconds(5'000),
          .restart_pause = milliseconds(100),
          .retry_pause = milliseconds(100),
          .attach_wait = milliseconds(2'000),
          .dismiss_wait = milliseconds(5'000)};
}

/// For three replicas at a time.
engine::LocalEngine::Options SmallMachine() {
  return {.capacity = {.mode = placement::Capacity::Mode::kStrict,
                       .cpus = 12,
                       .memory_bytes = std::int64_t{1} << 40},
          .probe = [](int) { return true; }};
}

/// As a program of this job ends by itself.
ExitRecord ExitOf(const JobLedger& ledger, SysTime now) {
  ExitRecord exit;
  exit.set_cause(ExitRecord::EXITED);
  exit.set_exit_code(ledger.exit_code);
  *exit.mutable_start_time() = *exit.mutable_end_time() = wire::ToProto(now);
  exit.set_log_lines(ledger.lines);
  return exit;
}

logging::v2::ListLogEntriesRequest LogRequest(const std::string& job_id) {
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/p");
  request.set_filter("resource.type=\"ml_job\" AND resource.labels.job_id=\"" + job_id + "\"");
  request.set_page_size(1000);
  return request;
}

std::vector<std::string> MessagesOf(const logs::LogPage& page) {
  std::vector<std::string> messages;
  for (const logging::v2::LogEntry& entry : page.entries) {
    messages.push_back(entry.has_json_payload() ? entry.json_payload().fields().at("message").string_value()
                                                : entry.text_payload());
  }
  return messages;
}

/// The replica that the attempt is one of.
std::string ReplicaOf(const std::string& attempt_id) { return attempt_id.substr(0, attempt_id.rfind('-')); }

}  // namespace

SimulationGround::SimulationGround() : catalogue(OneRuntime()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "simulation.XXXXXX").string();
  folder = ::mkdtemp(pattern.data());
}

SimulationGround::~SimulationGround() {
  files.join();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

/// All objects of one server. A kill -9 ends them.
struct Simulation::Server {
  std::unique_ptr<store::JobStore> writer;
  std::unique_ptr<store::JobStore> reader;
  std::unique_ptr<store::Journal> journal;
  std::unique_ptr<logs::LogStore> logs;
  std::unique_ptr<engine::LocalEngine> engine;
  std::optional<engine::Admissions> admissions;
  std::unique_ptr<JobService> service;
  std::unique_ptr<TaskGroup> clients;  ///< calls of clients, and of supervisors
  bool recovered = false;
};

class Simulation::Wire final : public engine::ReplicaLinkObserver {
 public:
  explicit Wire(Simulation& world) : world_(world) {}

  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const FromReplica::Hello& hello) override {
    // Supervisors can connect once the server has taken over the jobs.
    if (!world_.server_ || !world_.server_->recovered)
      return std::unexpected(Unavailable("there is no server"));
    server_of_[link.get()] = world_.lives_;
    return world_.server_->service->gateway().OnHello(std::move(link), hello);
  }
  awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                          FromReplica frame) override {
    if (frame.phase_changed().phase() == replica::v1::RUNNING) world_.running_.insert(attempt_id);
    if (world_.Below(2) == 0) co_await Pause(milliseconds(world_.Below(50)));
    if (!world_.server_ || server_of_[link.get()] != world_.lives_) {  // a connection ends with its server
      link->Close();
      co_return;
    }
    // It is the server's work: it ends with the server, and the supervisor's connection does not.
    const auto done = std::make_shared<Event>(world_.loop_.get_executor());
    auto& gateway = world_.server_->service->gateway();
    world_.server_->clients->Spawn(
        Serve(gateway.OnFrame(std::move(link), std::move(attempt_id), std::move(frame)), done));
    co_await done->Wait();
  }
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override {
    const bool is_its = world_.server_ && server_of_[link] == world_.lives_;
    server_of_.erase(link);
    if (is_its) world_.server_->service->gateway().OnClosed(link, attempt_id);
  }

 private:
  static awaitable<void> Serve(awaitable<void> work, std::shared_ptr<Event> done) {
    struct SetAtEnd {
      std::shared_ptr<Event> event;
      ~SetAtEnd() { event->Set(); }
    };
    const SetAtEnd at_end{std::move(done)};
    co_await std::move(work);
  }

  Simulation& world_;
  std::map<const engine::ReplicaLink*, int> server_of_;  ///< which server accepted the connection
};

Simulation::Simulation(SimulationGround& ground, std::uint64_t seed)
    : ground_(ground), time_(loop_, seed), disk_(seed) {
  storage::Buckets::Options options{.data = ground_.folder};
  buckets_ = storage::Buckets::Open(std::move(options), time_, ground_.files).value();
  std::filesystem::create_directories(ground_.folder / "buckets" / "packages");
  std::ofstream(ground_.folder / "buckets" / "packages" / "trainer.tar.gz") << "a package";
  replicas_ = std::make_unique<engine::FakeAttemptHost>(loop_.get_executor());
  wire_ = std::make_unique<Wire>(*this);
  if (seed % 2 == 0) cluster_ = std::make_unique<engine::FakeEngine>(loop_.get_executor());
  for (const char* node : kNodes) AddNode(node);
  replicas_->Attach(*wire_);
  replicas_->SetScript([this](const Manifest& manifest) {
    job_of_[manifest.attempt_id()] = manifest.job_id();
    Say(manifest.attempt_id() + " of " + manifest.job_id() + " is started");
    engine::FakeScript script{.exit = std::nullopt};
    const JobLedger& ledger = ledger_[manifest.job_id()];
    for (int i = 0; i < ledger.lines; ++i)
      script.lines.push_back(manifest.attempt_id() + " line " + std::to_string(i));
    return script;
  });
  settings_ = ShortPauses();
  maker_ = std::make_unique<JobMaker>(
      *buckets_, ground_.catalogue, time_,
      JobMaker::Policy{.runtime_default = "2.15", .pythons = {{{"3.11", "/usr/bin/python3"}}}});
}

Simulation::~Simulation() {
  if (server_) KillServer(false);
  time_.SetImmediate(true);
  replicas_.reset();
  buckets_.reset();
  loop_.restart();
  loop_.poll();
}

void Simulation::StartServer() {
  Say("the server starts");
  auto server = std::make_unique<Server>();
  auto writer = store::JobStore::Open(kJobs);
  auto reader = writer ? store::JobStore::OpenReader(kJobs) : std::unexpected(writer.error());
  auto logs = logs::LogStore::Open(loop_, time_, kLogs);
  if (!reader || !logs) {
    Violate("the server does not start: " + (reader ? logs.error() : reader.error()).message);
    return;
  }
  server->writer = std::move(*writer);
  server->reader = std::move(*reader);
  server->journal = std::make_unique<store::Journal>(loop_, *server->writer, *server->reader);
  server->logs = std::move(*logs);
  engine::Admissions::Options rooms;
  server->engine = std::make_unique<engine::LocalEngine>(loop_.get_executor(), SmallMachine());
  if (cluster_) {
    rooms.rooms.push_back({.name = placement::kSlurmEngine, .engine = *cluster_});
  } else {
    rooms.rooms.push_back({.name = placement::kLocalEngine, .engine = *server->engine});
  }
  server->admissions.emplace(loop_.get_executor(), std::move(rooms));
  const Collaborators outside{.loop = loop_.get_executor(),
                              .journal = *server->journal,
                              .logs = *server->logs,
                              .admissions = *server->admissions,
                              .hosts = {.here = *replicas_},
                              .clock = time_,
                              .settings = settings_,
                              .kept = {.buckets = buckets_.get()}};
  server->service = std::make_unique<JobService>(outside, *maker_);
  server->clients = std::make_unique<TaskGroup>(loop_.get_executor());
  server_ = std::move(server);
  ++lives_;
  const auto recover = [](Server& started, Simulation& world) -> awaitable<void> {
    const Status recovered = co_await started.service->Recover();
    if (!world.server_) co_return;  // killed meanwhile
    started.recovered = recovered.has_value();
    if (recovered && world.cluster_) world.cluster_->ReturnUnrequested();
    for (const std::string& attempt_id : world.replicas_->Alive())
      started.clients->Spawn(world.ReconnectLater(attempt_id));
    if (!recovered) world.Say("the server cannot take over: " + recovered.error().message);
  };
  server_->clients->Spawn(recover(*server_, *this));
}

void Simulation::KillServer(bool power_cut) {
  Say(power_cut ? "the machine loses its power" : "the server is killed");
  disk_.FailAfter(0);  // what is still on its way to the disk never comes there
  time_.SetImmediate(true);
  const std::unique_ptr<Server> ending = std::move(server_);
  ending->clients.reset();
  ending->service.reset();
  ending->admissions.reset();
  ending->engine.reset();
  loop_.restart();
  loop_.poll();
  ending->logs.reset();
  ending->journal.reset();
  ending->reader.reset();
  ending->writer.reset();
  loop_.restart();
  loop_.poll();
  time_.SetImmediate(false);
  unanswered_ = 0;
  if (!power_cut) return disk_.ProcessEnd();
  for (const std::string& attempt_id : replicas_->Alive()) {
    ++ledger_[job_of_[attempt_id]].lost;
    replicas_->Lose(attempt_id);
  }
  disk_.PowerCut();
}

awaitable<void> Simulation::ReconnectLater(std::string attempt_id) {
  co_await Pause(milliseconds(Below(3'000)));
  Reconnect(attempt_id);
}

void Simulation::Reconnect(const std::string& attempt_id) {
  Say(attempt_id + " connects");
  replicas_->Reconnect(attempt_id);
}

void Simulation::CreateJob() {
  const std::string job_id = "job_" + std::to_string(ledger_.size());
  JobLedger& ledger = ledger_[job_id];
  ledger.exit_code = Below(6) == 0 ? 1 : 0;
  ledger.lines = static_cast<int>(Below(4));
  const int workers = static_cast<int>(Below(3));
  Say("a client creates " + job_id + " with " + std::to_string(workers) + " workers");
  const auto create = [](Simulation& world, JobService& service, Job job) -> awaitable<void> {
    const std::string id = job.job_id();
    ++world.unanswered_;
    const Result<Job> made = co_await service.Create("p", std::move(job));
    --world.unanswered_;
    if (made) world.ledger_[id].is_created = true;
    world.Say(id + (made ? " is created" : " is not created: " + made.error().message));
  };
  server_->clients->Spawn(create(*this, *server_->service, MakeJob(job_id, workers)));
}

void Simulation::CancelJob(const std::string& job_id) {
  Say("a client cancels " + job_id);
  ledger_[job_id].asked_cancel = true;
  const auto cancel = [](Simulation& world, JobService& service, std::string id) -> awaitable<void> {
    ++world.unanswered_;
    const Status cancelled = co_await service.Cancel({"p", id});
    --world.unanswered_;
    world.Say(id + (cancelled ? " is cancelled" : " is not cancelled: " + cancelled.error().message));
  };
  server_->clients->Spawn(cancel(*this, *server_->service, job_id));
}

void Simulation::EndProgram(const std::string& attempt_id) {
  Say("the program of " + attempt_id + " ends");
  replicas_->End(attempt_id, ExitOf(ledger_[job_of_[attempt_id]], time_.Now()));
}

void Simulation::LoseAttempt() {
  const std::vector<std::string> alive = replicas_->Alive();
  if (alive.empty()) return;
  const std::string& attempt_id = alive[Below(alive.size())];
  ++ledger_[job_of_[attempt_id]].lost;
  Say("the supervisor of " + attempt_id + " is killed");
  replicas_->Lose(attempt_id);
}

void Simulation::AddNode(const std::string& node) {
  if (cluster_ && nodes_.insert(node).second) cluster_->AddNode(node, kReplicasOfNode);
}

/// A node of the cluster is lost, or comes back.
void Simulation::ChangeNodes() {
  const std::string node = kNodes[Below(kNodes.size())];
  if (!cluster_) return;
  if (!nodes_.contains(node)) {
    Say(node + " is back");
    return AddNode(node);
  }
  Say(node + " is lost");
  nodes_.erase(node);
  cluster_->LoseNode(node);
  replicas_->LoseNode(node);
}

void Simulation::RelabelJob(const std::string& job_id) {
  const auto patch = [](Simulation& world, JobService& service, std::string id,
                        std::string label) -> awaitable<void> {
    Job labels;
    (*labels.mutable_labels())["at"] = label;
    ++world.unanswered_;
    const Result<Job> patched = co_await service.Patch({"p", id}, labels, "labels");
    --world.unanswered_;
    if (patched) world.ledger_[id].label = label;
  };
  Say("a client changes a label of " + job_id);
  const std::string label = std::to_string(story_.size());
  ledger_[job_id].asked_labels.insert(label);
  server_->clients->Spawn(patch(*this, *server_->service, job_id, label));
}

void Simulation::Maintain() {
  const std::vector<std::string> alive = replicas_->Alive();
  if (alive.empty()) return;
  const std::string& attempt_id = alive[Below(alive.size())];
  Say("an operator moves the replica of " + attempt_id);
  const auto maintain = [](JobService& service, wire::JobName name, std::string task) -> awaitable<void> {
    (void)co_await service.Maintain(std::move(name), std::move(task));
  };
  const std::string task = cluster::ParseAttemptId(attempt_id)->task_name;
  server_->clients->Spawn(maintain(*server_->service, {"p", job_of_[attempt_id]}, task));
}

void Simulation::Act() {
  if (!server_) return StartServer();
  const std::vector<std::string> alive = replicas_->Alive();
  switch (Below(20)) {
    case 0: return KillServer(true);
    case 1:
    case 2: return KillServer(false);
    case 3: return LoseAttempt();
    case 4: return Maintain();
    case 14: return ChangeNodes();
    case 15:
      if (!ledger_.empty()) RelabelJob("job_" + std::to_string(Below(ledger_.size())));
      return;
    case 5: Say("the disk is full"); return disk_.SetFull(true);
    case 6:
    case 7:
      if (!ledger_.empty()) CancelJob("job_" + std::to_string(Below(ledger_.size())));
      return;
    case 8:
    case 9:
      if (!alive.empty()) Reconnect(alive[Below(alive.size())]);
      return;
    case 10:
    case 11:
    case 12:
    case 13:
      if (!alive.empty() && running_.contains(alive[0])) EndProgram(alive[0]);
      return;
    default: break;
  }
  disk_.SetFull(false);
  if (ledger_.size() < 6) CreateJob();
}

void Simulation::Step() {
  time_.Step(std::chrono::seconds(1));
  std::set<std::string> replicas;
  for (const std::string& attempt_id : replicas_->Working()) {
    if (!replicas.insert(ReplicaOf(attempt_id)).second)
      Violate(ReplicaOf(attempt_id) + " has two live attempts");
  }
}

std::vector<std::string> Simulation::Run() {
  StartServer();
  for (int action = 0; action < kActions && violations_.empty(); ++action) {
    for (auto steps = Below(Below(3) == 0 ? 60 : 8); steps > 0; --steps) Step();
    Act();
  }
  if (violations_.empty()) Settle();
  if (violations_.empty()) CheckEnd();
  return violations_;
}

/// Faults stop, all supervisors connect, and all programs end.
void Simulation::Settle() {
  Say("the faults stop");
  disk_.SetFull(false);
  for (const char* node : kNodes) AddNode(node);
  if (!server_) StartServer();
  for (int step = 0; step < kStepsMax && violations_.empty(); ++step) {
    Step();
    if (step % 100 != 0) continue;
    for (const std::string& attempt_id : replicas_->Alive()) {
      if (step % 5'000 == 0) Reconnect(attempt_id);
      if (running_.contains(attempt_id)) EndProgram(attempt_id);
    }
    if (!server_->recovered || unanswered_ > 0 || !replicas_->Alive().empty()) continue;
    if (server_->service->registry().all().empty()) return;
  }
  std::string left;
  for (const auto& [uid, runner] : server_->service->registry().all()) {
    const v1::JobRecord& job = runner->job();
    left += "; " + job.job().job_id() + " is " + std::string(jobs::StageName(jobs::StageOf(job)));
    if (const auto waiting = runner->WhyWaiting()) left += ": " + waiting->reason;
  }
  Violate("not everything ends" + left);
}

void Simulation::CheckEnd() {
  for (const auto& [job_id, ledger] : ledger_) {
    JobOutcome outcome{.record = server_->reader->Get("p", job_id)};
    if (outcome.record) outcome.events = server_->reader->Events(outcome.record->uid(), 0).value();
    if (outcome.record) outcome.lines = LinesOf(job_id);
    for (std::string& violation : Violations(job_id, ledger, outcome)) Violate(std::move(violation));
  }
}

std::vector<std::string> Simulation::LinesOf(const std::string& job_id) {
  std::optional<Result<logs::LogPage>> page;
  const auto list = [](logs::LogStore& logs, logging::v2::ListLogEntriesRequest what,
                       std::optional<Result<logs::LogPage>>& out) -> awaitable<void> {
    out = co_await logs.List(std::move(what));
  };
  server_->clients->Spawn(list(*server_->logs, LogRequest(job_id), page));
  for (int step = 0; step < kStepsMax && !page; ++step) time_.Step(std::chrono::seconds(1));
  if (page && *page) return MessagesOf(**page);
  Violate("the log of " + job_id + " cannot be read");
  return {};
}

void Simulation::Say(std::string line) {
  const auto ms = (time_.Now().time_since_epoch().count() / 1'000'000) % 10'000'000;
  story_.push_back(std::to_string(ms) + " ms: " + std::move(line));
}

void Simulation::Violate(std::string what) {
  if (violations_.empty()) Say("VIOLATION: " + what);
  violations_.push_back(std::move(what));
}

}  // namespace trainyard::control
