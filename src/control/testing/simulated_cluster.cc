#include "control/testing/simulated_cluster.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "control/run/pause.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slurm_engine.h"

namespace trainyard::control {

using agent::SimulatedAgent;
using boost::asio::awaitable;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr const char* kEngines = "/simulated/engines.db";
/// From SIGTERM to SIGKILL: KillWait.
constexpr seconds kKillWait{30};
/// The longest time until Slurm notices that a node is lost: SlurmdTimeout.
constexpr seconds kNodeNoticedMax{40};
constexpr milliseconds kLimitNoticeMax{40'000};

boost::asio::ip::address AddressOf(const std::string& node) {
  return boost::asio::ip::make_address("192.0.2." + node.substr(node.size() - 1));
}

slurm::Boot SomeBoot() {
  return {.source = {.server_host = "192.0.2.100",
                     .server_port = 17'000,
                     .certificate_sha256 = std::string(64, 'c'),
                     .program_sha256 = std::string(64, 'd')},
          .program_path = "/usr/bin/trainyard",
          .ticket = {}};
}

std::string NameOf(const SimulatedAgent& agent) {
  const auto& [job, slot, node, ticket, instance] = agent.place();
  return std::to_string(job) + "/" + std::to_string(slot) + " on " + node;
}

/// "ID for JOBUID-TRY, submission NUMBER": without the installation's name, which is random.
std::string NameOf(const SimulatedSlurm::Job& job) {
  const std::size_t of_try = job.name.rfind('-');
  const std::size_t of_uid = job.name.rfind('-', of_try - 1);
  return std::to_string(job.id) + " for " + job.name.substr(of_uid + 1) + ", submission " +
         job.comment.substr(job.comment.find(':') + 1);
}

}  // namespace

/// A server's part of the cluster.
struct SimulatedCluster::Server {
  explicit Server(const boost::asio::any_io_executor& loop)
      : host(loop, [this](const std::string& agent) { return engine->MayLive(agent); }),
        sessions(std::make_unique<TaskGroup>(loop)) {}

  engine::RemoteAttemptHost host;
  std::unique_ptr<engine::SlurmEngine> engine;
  std::optional<engine::AgentDesk> desk;
  std::unique_ptr<TaskGroup> sessions;
};

awaitable<agent::v1::FromAgent::Hello> SimulatedCluster::NoWorker::MakeHello(std::string) {
  co_return agent::v1::FromAgent::Hello();
}

awaitable<void> SimulatedCluster::NoWorker::OnWelcome(agent::v1::ToAgent::Welcome) { co_return; }

SimulatedCluster::SimulatedCluster(Surroundings& around, SimulatedReplicas& replicas)
    : around_(around),
      replicas_(replicas),
      clock_(around.time),
      slurm_(around.time, *this),
      host_(replicas.MakeHost()),
      nobody_(around.loop.get_executor()),
      no_uplink_(around.loop.get_executor(), {.host = {}, .port = 0, .fingerprint = {}}, no_worker_),
      tasks_(around.loop.get_executor()) {
  for (const std::string& node : Nodes()) slurm_.AddNode(node);
  host_->SetOnGone([this](const std::string& attempt_id) {
    for (const Agent& agent : std::vector<Agent>(agents_))
      if (agent->Has(attempt_id)) agent->OnAttemptGone(attempt_id);
  });
  tasks_.Spawn(Schedule());
}

SimulatedCluster::~SimulatedCluster() {
  host_->SetOnGone(nullptr);
  for (const Agent& agent : std::vector<Agent>(agents_)) agent->Kill();
}

// --- the server

Status SimulatedCluster::Open() {
  auto server = std::make_unique<Server>(around_.loop.get_executor());
  TY_TRY(server->engine,
         engine::SlurmEngine::Open(
             around_.loop.get_executor(), kEngines,
             {.settings = {}, .boot = SomeBoot(), .clock = around_.time, .client = MakeClient(slurm_)},
             server->host));
  server_ = std::move(server);
  return {};
}

engine::Engine& SimulatedCluster::StartEngine() {
  server_->desk.emplace(
      engine::AgentDesk{.slots = *server_->engine,
                        .host = server_->host,
                        .welcome = {},
                        .relay = [](engine::RelayedConnection, const std::shared_ptr<mux::Stream>& stream) {
                          stream->Reset();
                        }});
  return *server_->engine;
}

engine::AttemptHosts SimulatedCluster::Hosts(engine::AttemptHost*) {
  return {.here = nobody_, .with_agents = &server_->host};
}

void SimulatedCluster::ServerHasRecovered() {
  server_->engine->Start();
  is_serving_ = true;
}

void SimulatedCluster::Disconnect() {
  is_serving_ = false;
  server_->sessions->Cancel();
  while (server_->sessions->size() > 0) around_.time.Step(seconds(1));  // some wait up to a second for Slurm
}

void SimulatedCluster::ServerEnds() { server_.reset(); }

std::unique_ptr<agent::AgentLine> SimulatedCluster::Connect(const std::string& node) {
  if (!is_serving_ || down_.contains(node)) return nullptr;
  const boost::asio::any_io_executor loop = around_.loop.get_executor();
  auto line = std::make_unique<agent::AgentLine>(
      loop, [this] { return milliseconds(around_.Below(3) == 0 ? around_.Below(20) : 0); });
  server_->sessions->Spawn(
      engine::ServeAgent(loop, {.transport = line->TakeEnd(1), .from = AddressOf(node)}, *server_->desk));
  return line;
}

bool SimulatedCluster::Reaches(const std::string& attempt_id) const {
  return std::ranges::any_of(
      agents_, [&](const Agent& agent) { return agent->is_connected() && agent->Has(attempt_id); });
}

// --- agents

void SimulatedCluster::StartAgents(const SimulatedSlurm::Job& job) {
  around_.story.Say("Slurm starts job ", NameOf(job));
  for (int slot = 0; slot < job.slot_count(); ++slot) StartAgent(job, slot);
}

void SimulatedCluster::StartAgent(const SimulatedSlurm::Job& job, int slot) {
  const std::string& node = job.nodes.at(static_cast<std::size_t>(slot));
  if (down_.contains(node)) return;  // Slurm has not noticed that yet
  World& world = *this;              // make_shared has no access to it
  const Agent agent =
      std::make_shared<SimulatedAgent>(around_.loop.get_executor(), world, no_uplink_,
                                       SimulatedAgent::Place{.job = job.id,
                                                             .slot = slot,
                                                             .node = node,
                                                             .ticket = job.ticket,
                                                             .instance = std::to_string(++instances_)});
  agents_.push_back(agent);
  tasks_.Spawn(Live(agent));
}

awaitable<void> SimulatedCluster::Live(Agent agent) {
  co_await agent->Run();
  std::erase(agents_, agent);
  ended_.push_back(agent);
  // Nobody reads what is left on the node.
  for (const std::string& attempt_id : agent->attempts()) replicas_.machine().RemoveUnread(attempt_id);
  const std::int64_t id = agent->place().job;
  if (AgentsOf(id).empty()) slurm_.OnEmpty(id);
}

std::vector<SimulatedCluster::Agent> SimulatedCluster::AgentsOf(std::int64_t id) const {
  std::vector<Agent> found;
  for (const Agent& agent : agents_)
    if (agent->place().job == id) found.push_back(agent);
  return found;
}

void SimulatedCluster::EndAgents(std::int64_t id) {
  if (AgentsOf(id).empty()) return slurm_.OnEmpty(id);
  for (const Agent& agent : AgentsOf(id)) agent->EndSlot(false, kKillWait - seconds(5));
  tasks_.Spawn(KillSlowAgents(id));
}

awaitable<void> SimulatedCluster::KillSlowAgents(std::int64_t id) {
  const std::vector<Agent> agents = AgentsOf(id);
  co_await Pause(kKillWait);
  for (const Agent& agent : agents) agent->Kill();
}

/// A node runs the attempts of one slot: the cluster kills all processes there.
void SimulatedCluster::Kill(const std::string& attempt_id) {
  for (const Agent& agent : agents_)
    if (agent->Has(attempt_id)) return replicas_.machine().LoseNode(agent->place().node);
}

void SimulatedCluster::KillAgents(std::int64_t id) {
  for (const Agent& agent : AgentsOf(id)) agent->Kill();
}

awaitable<void> SimulatedCluster::Schedule() {
  for (;;) {
    co_await Pause(milliseconds(50 + around_.Below(1'000)));
    slurm_.Schedule();
  }
}

void SimulatedCluster::OnWelcome(const SimulatedAgent& agent) {
  around_.story.Say("the agent ", NameOf(agent), " has its slot");
  for (const Agent& other : agents_) {
    const bool has_same_slot = other.get() != &agent && other->lives() && other->is_welcome() &&
                               other->place().ticket == agent.place().ticket &&
                               other->place().slot == agent.place().slot;
    if (has_same_slot) around_.story.Violate("two agents have the slot " + NameOf(agent));
  }
}

void SimulatedCluster::OnHello(const SimulatedAgent& agent) {
  reached_[agent.place().ticket].insert(agent.place().slot);
}

void SimulatedCluster::OnRefused(const SimulatedAgent& agent, const std::string& reason) {
  around_.story.Say("the agent ", NameOf(agent), " is refused: ", reason);
}

void SimulatedCluster::OnStart(const SimulatedAgent& agent) {
  const auto job = slurm_.jobs().find(agent.place().job);
  if (job == slurm_.jobs().end() || job->second.ticket != agent.place().ticket) return;
  if (std::ssize(reached_[agent.place().ticket]) < job->second.slot_count())
    around_.story.Violate("a gang starts before all of its agents have connected");
}

// --- faults

std::vector<std::string> SimulatedCluster::Nodes() const { return {"node-1", "node-2", "node-3"}; }

void SimulatedCluster::LoseNode(const std::string& node) {
  down_.insert(node);
  for (const Agent& agent : std::vector<Agent>(agents_)) {
    if (agent->place().node != node) continue;
    agent->FallSilent(std::chrono::hours(1));
    agent->Kill();
  }
  tasks_.Spawn(NoticeLostNode(node));
}

awaitable<void> SimulatedCluster::NoticeLostNode(std::string node) {
  co_await Pause(seconds(1) + milliseconds(around_.Below(milliseconds(kNodeNoticedMax).count())));
  if (down_.contains(node) && slurm_.has_node(node)) slurm_.LoseNode(node);
}

/// Slurm sees that it was started again, if it has not noticed before.
void SimulatedCluster::ReturnNode(const std::string& node) {
  if (down_.erase(node) == 0) return;
  if (slurm_.has_node(node)) slurm_.LoseNode(node);
  slurm_.AddNode(node);
}

std::vector<std::string> SimulatedCluster::JobsIn(std::string_view state) const {
  std::vector<std::string> found;
  for (const auto& [id, job] : slurm_.jobs())
    if (job.state == state) found.push_back(NameOf(job));
  return found;
}

std::vector<std::string> SimulatedCluster::WaitingJobs() const { return JobsIn("PENDING"); }
std::vector<std::string> SimulatedCluster::RunningJobs() const { return JobsIn("RUNNING"); }

std::vector<std::string> SimulatedCluster::Agents() const {
  std::vector<std::string> names;
  for (const Agent& agent : agents_)
    if (agent->lives()) names.push_back(NameOf(*agent));
  return names;
}

SimulatedCluster::Agent SimulatedCluster::FindAgent(const std::string& name) const {
  const auto found = std::ranges::find(agents_, name, [](const Agent& agent) { return NameOf(*agent); });
  return found == agents_.end() ? nullptr : *found;
}

std::int64_t SimulatedCluster::IdOf(const std::string& slurm_job) { return std::stoll(slurm_job); }

std::int64_t SimulatedCluster::UidOf(const std::string& slurm_job) {
  constexpr std::string_view kFor = " for ";
  return std::stoll(slurm_job.substr(slurm_job.find(kFor) + kFor.size()));
}

void SimulatedCluster::LimitJob(const std::string& slurm_job) {
  for (const Agent& agent : AgentsOf(IdOf(slurm_job))) agent->EndSlot(true, kLimitNoticeMax);
  tasks_.Spawn(ReachTimeLimit(slurm_job));
}

awaitable<void> SimulatedCluster::ReachTimeLimit(std::string slurm_job) {
  co_await Pause(milliseconds(around_.Below(kLimitNoticeMax.count())));
  const std::vector<std::string> running = RunningJobs();
  if (std::ranges::find(running, slurm_job) != running.end()) slurm_.End(IdOf(slurm_job), "TIMEOUT");
}

void SimulatedCluster::StartTwice(const std::string& slurm_job) {
  const SimulatedSlurm::Job& job = slurm_.jobs().at(IdOf(slurm_job));
  const auto slot = around_.Below(static_cast<std::size_t>(job.slot_count()));
  if (!job.nodes[slot].empty()) StartAgent(job, static_cast<int>(slot));
}

void SimulatedCluster::KillAgent(const std::string& agent) { FindAgent(agent)->Kill(); }
void SimulatedCluster::CutAgent(const std::string& agent) { FindAgent(agent)->CutLine(); }

void SimulatedCluster::SilenceAgent(const std::string& agent, milliseconds duration) {
  FindAgent(agent)->FallSilent(duration);
}

// --- the end

std::string SimulatedCluster::Left() const {
  std::string left;
  for (const auto& [id, job] : slurm_.jobs())
    if (!job.is_over()) left += "; job " + NameOf(job) + " is " + job.state + " in Slurm";
  for (const Agent& agent : agents_) left += "; the agent " + NameOf(*agent) + " lives";
  return left;
}

}  // namespace trainyard::control
