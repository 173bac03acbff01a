#include "simulated_service.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/check.h"

namespace trainyard::bench {

namespace {

namespace asio = boost::asio;
using engine::ReservationKey;

constexpr std::int64_t kGpusNoNodeHas = 16;

ReservationKey KeyOf(std::int64_t uid) { return {.job_uid = uid, .try_number = 1}; }

}  // namespace

double ThreadSeconds() {
  timespec time{};
  TY_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

placement::Gang SimulatedGang(std::int64_t uid) {
  placement::Gang gang{.uid = uid,
                       .project = "project_" + std::to_string(uid % 100),
                       .creator = "user_" + std::to_string(uid % 1'000) + "@example.com",
                       .job_id = "training_job_" + std::to_string(uid),
                       .region = "us-central1",
                       .create_time = SysTime(std::chrono::seconds(uid)),
                       .replicas = {},
                       .running_limit = std::chrono::hours(24)};
  placement::Gang::Replica replica{
      .machine_type = "n1-standard-16", .cpus = 16, .memory_bytes = std::int64_t{60} << 30};
  const auto lot = static_cast<int>((uid * 37) % 100);
  std::size_t replicas = lot < 60 ? 1 : lot < 85 ? 4 : lot < 95 ? 16 : 64;
  if (lot % 10 == 3 && replicas < 64) {
    replica.accelerator = ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4;
    replica.accelerator_count = 2;
  }
  if (lot == 98) replica.accelerator = ml::v1::AcceleratorConfig::NVIDIA_TESLA_T4;
  if (lot == 98) replica.accelerator_count = kGpusNoNodeHas;
  if (lot == 99) gang.region = "us-east1";
  gang.replicas.assign(replicas, replica);
  return gang;
}

SimulatedService::SimulatedService(std::filesystem::path database, ClusterSimulation& cluster,
                                   SimulatedClock& clock)
    : database_(std::move(database)), cluster_(cluster), clock_(clock) {}

SimulatedService::~SimulatedService() = default;

void SimulatedService::Open() {
  engine_.reset();
  host_ = std::make_unique<engine::RemoteAttemptHost>(
      loop_.get_executor(), [this](const std::string& agent) { return engine_->MayLive(agent); });
  auto opened = cluster_.Open(loop_.get_executor(), database_.string(), *host_);
  TY_CHECK(opened.has_value());
  engine_ = *std::move(opened);
  engine_->Tell({.on_grant = [this](engine::ReservationKey key,
                                    const engine::Grant& grant) { OnGrant(key.job_uid, grant); },
                 .on_wait =
                     [this](engine::ReservationKey key) {
                       ++waits_told_;
                       if (engine_->WaitOf(key) == std::nullopt && !running_.contains(key.job_uid))
                         std::abort();
                     },
                 .on_lost =
                     [this](engine::ReservationKey key, const engine::Revocation&) {
                       ++revocations_;
                       Release(key.job_uid);
                     }});
}

void SimulatedService::Reserve(std::int64_t uid) {
  wanted_.insert(uid);
  engine::ReservationRequest request{.key = KeyOf(uid), .gang = SimulatedGang(uid)};
  if (const auto on_record = granted_.find(uid); on_record != granted_.end())
    request.granted = on_record->second;
  const auto answer = engine_->Offer(std::move(request));
  if (!std::holds_alternative<engine::Pending>(answer)) return;
  if (engine_->WaitOf(KeyOf(uid)) == std::nullopt) std::abort();
}

void SimulatedService::OnGrant(std::int64_t uid, const engine::Grant& grant) {
  ++grants_;
  granted_[uid] = grant;
  if (run_time_) ends_.emplace(clock_.Now() + *run_time_, uid);
}

void SimulatedService::Release(std::int64_t uid) {
  engine_->Return(KeyOf(uid));
  engine_->Prove(KeyOf(uid));
  granted_.erase(uid);
  wanted_.erase(uid);
  const auto running = running_.find(uid);
  if (running == running_.end()) return;
  cluster_.Complete(running->second, clock_.Now());  // its agents leave
  running_.erase(running);
}

void SimulatedService::Tick(std::chrono::seconds by) {
  clock_.Advance(by);
  while (!ends_.empty() && ends_.begin()->first <= clock_.Now()) {
    const std::int64_t uid = ends_.begin()->second;
    ends_.erase(ends_.begin());
    Release(uid);
  }
  for (const AgentsChange& change : cluster_.Step(clock_.Now())) {
    if (!change.began) {
      EndAgents(change);
      continue;
    }
    running_[change.submission.gang.job_uid] = change.submission;
    for (int slot = change.first_slot; slot < change.first_slot + change.slots; ++slot)
      tasks_.Spawn(Attach(change.ticket, slot));
  }
  // An agent of nobody: the engine looks at its clock, which its timers do not know.
  engine_->OnAttached("");
}

asio::awaitable<void> SimulatedService::Attach(std::string ticket, int slot) {
  agent::v1::FromAgent::Hello hello;
  hello.set_ticket(std::move(ticket));
  hello.set_slot(slot);
  hello.set_instance(hello.ticket() + std::to_string(slot));
  agent::v1::Node& node = *hello.mutable_node();
  node.set_name("node" + std::to_string(slot));
  node.set_host_name(node.name());
  node.set_address(kNodeAddress);
  node.set_cpus(16);
  node.set_memory_bytes(std::int64_t{64} << 30);
  node.set_port(20'000 + slot);
  node.add_pythons("3.11.2");
  engine::AgentOrigin origin{.from = boost::asio::ip::make_address(kNodeAddress),
                             .is_there = [] { return true; }};
  const Result<std::string> name = co_await engine_->TakeSlot(std::move(hello), std::move(origin));
  if (!name) co_return;  // released meanwhile
  host_->OnAttached(*name, nullptr, {});
  engine_->OnAttached(*name);
}

void SimulatedService::EndAgents(const AgentsChange& change) {
  for (int slot = change.first_slot; slot < change.first_slot + change.slots; ++slot) {
    const std::string agent = placement::AgentName(change.submission, slot, cluster_.agent_mark());
    host_->OnDetached(agent, nullptr);
    engine_->OnDetached(agent, mux::Ending::kClosed);
  }
}

void SimulatedService::RunOne(std::chrono::milliseconds wait_max) {
  const double begin = ThreadSeconds();
  idle_ = (wait_max.count() > 0 ? loop_.run_one_for(wait_max) : loop_.poll_one()) == 0;
  if (!idle_) turns_ms_.push_back(1e3 * (ThreadSeconds() - begin));
}

void SimulatedService::Settle() {
  const auto is_under_way = [this] {
    return cluster_.is_busy() || tasks_.size() > 0;  // agents that come
  };
  do RunOne(kQuiet);
  while (!idle_ || is_under_way());
}

void SimulatedService::RunReady() {
  do RunOne(std::chrono::milliseconds(0));
  while (!idle_);
}

}  // namespace trainyard::bench
