#include "control/testing/world.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "rules/jobs/transition_table.h"

namespace trainyard::control {

using boost::asio::awaitable;
using ml::v1::Job;
using replica::v1::Manifest;

awaitable<Result<logs::StoredLines>> FaultyLogs::Append(logs::LogSource source, replica::v1::LogChunk chunk) {
  const bool refuses = refuse_next > 0 && source.task_name != "service";
  if (refuses) --refuse_next;
  if (full || refuses) {
    ++refused;
    co_return std::unexpected(ResourceExhausted("the disk is full"));
  }
  const KillPoint::Fate fate = kill->Next();
  Result<logs::StoredLines> stored = std::unexpected(Unavailable("the server is killed"));
  if (fate.stored) stored = co_await LogStore::Append(std::move(source), std::move(chunk));
  if (!fate.reported) co_return std::unexpected(Unavailable("the server is killed"));
  co_return stored;
}

awaitable<Result<std::vector<std::int64_t>>> FaultyLogs::NextLines(std::vector<std::int64_t> job_uids,
                                                                   std::string source) {
  if (are_uncountable) co_return std::unexpected(Unavailable("the logs cannot be read"));
  co_return co_await LogStore::NextLines(std::move(job_uids), std::move(source));
}

awaitable<Status> FaultyHost::Start(Manifest manifest, engine::Slot slot) {
  if (start_errors.empty()) co_return co_await fake_.Start(std::move(manifest), std::move(slot));
  Error error = start_errors.front();
  start_errors.pop_front();
  if (starts_all_the_same) co_await fake_.Start(std::move(manifest), std::move(slot));
  co_return std::unexpected(error);
}

awaitable<engine::Inspection> FaultyHost::Inspect(engine::AttemptRef attempt) {
  if (inspect_error) co_return engine::Inspection{engine::AttemptState::kUnknown, inspect_error->message};
  co_return co_await fake_.Inspect(std::move(attempt));
}

awaitable<Result<engine::AttemptHost::Remains>> FaultyHost::Collect(engine::AttemptRef attempt,
                                                                    std::int64_t from) {
  if (collect_error) co_return std::unexpected(*collect_error);
  co_return co_await fake_.Collect(std::move(attempt), from);
}

awaitable<Status> FaultyHost::Kill(engine::AttemptRef attempt) {
  killed.push_back(attempt.id);
  co_return co_await fake_.Kill(std::move(attempt));
}

awaitable<Status> FaultyHost::Forget(engine::AttemptRef attempt) {
  if (forget_error) ++forgets_refused;
  if (forget_error) co_return std::unexpected(*forget_error);
  Status done = co_await fake_.Forget(attempt);
  if (done) forgotten.push_back(attempt.id);
  co_return done;
}

Status Wire::OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) {
  if (server == nullptr) return std::unexpected(Unavailable("there is no server"));
  return server->gateway().OnHello(std::move(link), hello);
}

static awaitable<void> Nothing() { co_return; }

awaitable<void> Wire::OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                              engine::FromReplica frame) {
  if (server == nullptr) return Nothing();
  return server->gateway().OnFrame(std::move(link), std::move(attempt_id), std::move(frame));
}

void Wire::OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) {
  if (server != nullptr) server->gateway().OnClosed(link, attempt_id);
}

namespace {

environment::Catalogue OneRuntime() {
  environment::RuntimeVersion runtime;
  runtime.version = "2.15";
  runtime.pythons = {"3.11"};
  environment::RuntimeVersion for_gpus = runtime;
  runtime.gpu_variant = for_gpus.version = "2.15-gpu";
  return environment::Catalogue({runtime, for_gpus});
}

}  // namespace

World::World(placement::Capacity capacity) : catalogue_(OneRuntime()), capacity_(capacity) {
  std::string pattern = (std::filesystem::temp_directory_path() / "control_test.XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
  journal_ = std::make_unique<store::Journal>(loop_.context, store_, store_);
  logs_ = std::make_unique<FaultyLogs>(
      std::move(*logs::LogStore::Open(loop_.context, clock_, folder_ / "logs.db").value()));
  logs_->kill = &store_.kill;
  storage::Buckets::Options options{.data = folder_};
  buckets_ = storage::Buckets::Open(std::move(options), clock_, files_).value();
  storage::v1::Bucket packages;
  packages.set_name("packages");
  EXPECT_TRUE(Await(buckets_->InsertBucket(std::move(packages))));
  std::ofstream(folder_ / "buckets" / "packages" / "trainer.tar.gz") << "a package";
  replicas_ = std::make_unique<engine::FakeAttemptHost>(loop_.context.get_executor());
  replicas_->Attach(wire_);
  host_ = std::make_unique<FaultyHost>(*replicas_);
  const char* allocator = std::getenv("TRAINYARD_TEST_ALLOCATOR");
  if (allocator != nullptr && std::string_view(allocator) == "cluster")
    UseCluster({"node-1", "node-2", "node-3"}, 100);
  settings_ = {.keys = Keys::Derive("secret"),
               .restart_pause = std::chrono::milliseconds(0),
               .retry_pause = std::chrono::milliseconds(1)};
  maker_ = std::make_unique<JobMaker>(
      *buckets_, catalogue_, clock_,
      JobMaker::Policy{
          .runtime_default = "2.15", .pythons = {{{"3.11", "/usr/bin/python3"}}}, .capacity = capacity_});
  StartServer();
}

World::~World() {
  KillServer();
  host_.reset();
  replicas_.reset();
  buckets_.reset();
  secrets_.reset();
  files_.join();
  logs_.reset();
  journal_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void World::MakeServer() {
  service_.reset();  // of a test that starts another one without killing this one: it goes before its engine
  admissions_.reset();
  secrets_ = store::SecretStore::Open(folder_ / "secrets").value();
  if (!cluster_) {
    engine::LocalEngine::Options options{.capacity = capacity_, .probe = probe_, .devices = devices_};
    local_ = std::make_unique<engine::LocalEngine>(loop_.context.get_executor(), std::move(options));
  }
  engine::Admissions::Options rooms;
  if (cluster_)
    rooms.rooms.push_back({.name = placement::kSlurmEngine, .engine = *cluster_});
  else
    rooms.rooms.push_back({.name = placement::kLocalEngine, .engine = *local_});
  admissions_.emplace(loop_.context.get_executor(), std::move(rooms));
  Collaborators outside{
      .loop = loop_.context.get_executor(),
      .journal = *journal_,
      .logs = *logs_,
      .admissions = *admissions_,
      .hosts = {.here = *host_},
      .clock = clock_,
      .settings = settings_,
      .kept = {.buckets = buckets_.get(), .secrets = secrets_.get()},
      .images = {.registries =
                     registries_.resolve || registries_.look_for_containers ? &registries_ : nullptr},
      .bounds = {.quotas = &quotas_, .check_space = [this] {
                   return has_space_ ? Status() : std::unexpected(ResourceExhausted("the disk is full"));
                 }}};
  outside.bounds.may_begin = outside.bounds.check_space;
  service_ = std::make_unique<JobService>(outside, *maker_);
}

void World::StartServer() {
  MakeServer();
  Status recovered = Await(service_->Recover());
  ASSERT_TRUE(recovered) << recovered.error().message;
  wire_.server = service_.get();
  for (const std::string& attempt_id : replicas_->Alive())
    if (!silent_.contains(attempt_id)) replicas_->Reconnect(attempt_id);
}

void World::KillServer() {
  wire_.server = nullptr;
  clients_.reset();
  service_.reset();
  secrets_.reset();
  admissions_.reset();
  local_.reset();
}

void World::UseCluster(const std::vector<std::string>& nodes, int replicas) {
  cluster_ = std::make_unique<engine::FakeEngine>(loop_.context.get_executor());
  for (const std::string& node : nodes) cluster_->AddNode(node, replicas);
}

bool World::IsKept(const std::string& attempt_id) {
  const auto kept = Await(replicas_->List());
  const auto is_it = [&attempt_id](const engine::AttemptRef& one) { return one.id == attempt_id; };
  return kept && std::ranges::any_of(*kept, is_it);
}

Job World::MakeJob(const std::string& job_id, int workers) {
  Job job;
  job.set_job_id(job_id);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_python_module("trainer.task");
  input.add_package_uris("gs://packages/trainer.tar.gz");
  if (workers == 0) return job;
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  input.set_worker_type("n1-standard-4");
  input.set_worker_count(workers);
  return job;
}

v1::JobRecord World::Record(const std::string& job_id) {
  Result<v1::JobRecord> record =
      Await(journal_->Read([&](store::JobStore& jobs) { return jobs.Get("p", job_id); }));
  return record ? *record : v1::JobRecord();
}

Job World::Get(const std::string& job_id) {
  Result<Job> job = Await(service_->Get({"p", job_id}));
  return job ? *job : Job();
}

bool World::WaitForState(const std::string& job_id, Job::State state) {
  if (RunUntil([&] { return Record(job_id).job().state() == state; })) return true;
  ADD_FAILURE() << job_id << " is " << Record(job_id).ShortDebugString();
  return false;
}

bool World::WaitForEnd(const std::string& job_id, Job::State state) {
  if (!RunUntil([&] { return Record(job_id).job().has_end_time(); }) ||
      Record(job_id).job().state() != state) {
    ADD_FAILURE() << job_id << " is " << Record(job_id).ShortDebugString();
    return false;
  }
  return WaitUntilQuiet();
}

bool World::WaitUntilQuiet() {
  return RunUntil([this] { return replicas_->Alive().empty() && Await(replicas_->List())->empty(); });
}

std::vector<v1::Event> World::EventsOf(const v1::JobRecord& job) {
  return *Await(journal_->Read([&](store::JobStore& jobs) { return jobs.Events(job.uid(), 0); }));
}

std::vector<v1::JobRecord> World::TrialsOf(const v1::JobRecord& job) {
  return *Await(journal_->Read([&](store::JobStore& jobs) { return jobs.Trials(job.uid()); }));
}

std::vector<std::string> World::EventNames(const std::string& job_id) {
  std::vector<std::string> names;
  for (const v1::Event& event : EventsOf(Record(job_id)))
    names.emplace_back(jobs::EventName(event.kind_case()));
  return names;
}

std::vector<std::string> World::Lines(const std::string& job_id, const std::string& task) {
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/p");
  request.set_filter("resource.type=\"ml_job\" AND resource.labels.job_id=\"" + job_id + "\"");
  request.set_page_size(1000);
  std::vector<std::string> lines;
  for (;;) {
    Result<logs::LogPage> page = Await(logs_->List(request));
    if (!page) {
      ADD_FAILURE() << page.error().message;
      return lines;
    }
    for (const logging::v2::LogEntry& entry : page->entries) {
      const std::string& from = entry.resource().labels().at("task_name");
      std::string text = entry.has_json_payload() ? entry.json_payload().fields().at("message").string_value()
                                                  : entry.text_payload();
      if (task.empty()) {
        lines.push_back(from + ": " + text);
      } else if (task == from) {
        lines.push_back(text);
      }
    }
    if (page->next_page_token.empty()) return lines;
    request.set_page_token(page->next_page_token);
  }
}

replica::v1::ExitRecord World::Exit(int code) {
  replica::v1::ExitRecord exit;
  exit.set_cause(replica::v1::ExitRecord::EXITED);
  exit.set_exit_code(code);
  exit.mutable_start_time()->set_seconds(1'600'000'000);
  return exit;
}

void World::ExpectNothingStartedTwice() {
  std::set<std::string> started;
  for (const Manifest& manifest : replicas_->started())
    EXPECT_TRUE(started.insert(manifest.attempt_id()).second) << manifest.attempt_id();
}

}  // namespace trainyard::control
