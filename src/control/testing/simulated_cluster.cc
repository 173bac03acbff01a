#include "control/testing/simulated_cluster.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "control/run/pause.h"
#include "rules/slurm/job_name.h"

namespace trainyard::control {

using boost::asio::awaitable;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// From SIGTERM to SIGKILL: KillWait.
constexpr seconds kKillWait{30};
/// What a node that was lost still says at most: SlurmdTimeout.
constexpr seconds kNodeNoticedMax{40};

boost::asio::ip::address AddressOf(const std::string& node) {
  return boost::asio::ip::make_address("192.0.2." + node.substr(node.size() - 1));
}

slurm::Boot SomeBoot() {
  return {.server_host = "192.0.2.100",
          .server_port = 17'000,
          .certificate_sha256 = std::string(64, 'c'),
          .program_sha256 = std::string(64, 'd'),
          .program_path = "/usr/bin/trainyard",
          .ticket = {}};
}

std::optional<std::int64_t> UidOf(const SimulatedSlurm::Job& job) {
  // "ty-INSTALLATION-UID-TRY"
  const std::size_t end = job.name.rfind('-');
  const std::size_t begin = job.name.rfind('-', end - 1);
  return std::stoll(job.name.substr(begin + 1, end - begin - 1));
}

}  // namespace

awaitable<agent::v1::FromAgent::Hello> SimulatedCluster::NoWorker::MakeHello(std::string) {
  co_return agent::v1::FromAgent::Hello();
}

awaitable<void> SimulatedCluster::NoWorker::OnWelcome(agent::v1::ToAgent::Welcome) { co_return; }

SimulatedCluster::Server::Server(const boost::asio::any_io_executor& loop)
    : host_(loop, [this](const std::string& agent) { return engine_->MayLive(agent); }),
      sessions_(std::make_unique<TaskGroup>(loop)) {}

SimulatedCluster::SimulatedCluster(World world, std::vector<std::string> nodes)
    : world_(std::move(world)),
      nodes_(std::move(nodes)),
      slurm_(world_.time, *this),
      around_agents_{.clock = world_.time,
                     .random = world_.time.random(),
                     .replicas = world_.replicas,
                     .uplink = no_uplink_,
                     .connect = [this](const std::string& node) { return Connect(node); },
                     .lose = world_.lose,
                     .shut_down = world_.shut_down,
                     .say = world_.say},
      no_uplink_(world_.loop.get_executor(), {.host = {}, .port = 0, .fingerprint = {}}, no_worker_),
      tasks_(world_.loop.get_executor()) {
  for (const std::string& node : nodes_) slurm_.AddNode(node);
  world_.replicas.SetOnGone([this](const std::string& attempt_id) {
    for (const Agent& agent : std::vector<Agent>(agents_))
      if (agent->Has(attempt_id)) agent->OnAttemptGone(attempt_id);
  });
  tasks_.Spawn(Schedule());
}

SimulatedCluster::~SimulatedCluster() {
  world_.replicas.SetOnGone(nullptr);
  for (const Agent& agent : std::vector<Agent>(agents_)) agent->Kill();
}

Result<std::unique_ptr<SimulatedCluster::Server>> SimulatedCluster::Open(const std::string& database) {
  std::unique_ptr<Server> server(new Server(world_.loop.get_executor()));
  TY_TRY(server->engine_,
         engine::SlurmEngine::Open(
             world_.loop.get_executor(), database,
             {.settings = {}, .boot = SomeBoot(), .clock = world_.time, .client = MakeClient(slurm_)},
             server->host_));
  server->desk_.emplace(
      engine::AgentDesk{.slots = *server->engine_,
                        .host = server->host_,
                        .welcome = {},
                        .relay = [](engine::RelayedConnection, const std::shared_ptr<mux::Stream>& stream) {
                          stream->Reset();
                        }});
  return server;
}

void SimulatedCluster::Serve(Server* server) {
  server_ = server;
  if (server_ != nullptr) server_->engine_->Start();
}

std::unique_ptr<engine::SimulatedLine> SimulatedCluster::Connect(const std::string& node) {
  if (server_ == nullptr || !server_->sessions_ || down_.contains(node)) return nullptr;
  const boost::asio::any_io_executor loop = world_.loop.get_executor();
  auto line = std::make_unique<engine::SimulatedLine>(
      loop, [this] { return milliseconds(Below(3) == 0 ? Below(20) : 0); });
  server_->sessions_->Spawn(
      engine::ServeAgent(loop, {.transport = line->TakeEnd(1), .from = AddressOf(node)}, *server_->desk_));
  return line;
}

bool SimulatedCluster::Reaches(const std::string& attempt_id) const {
  return std::ranges::any_of(
      agents_, [&](const Agent& agent) { return agent->is_welcome() && agent->Has(attempt_id); });
}

// --- agents

void SimulatedCluster::StartAgents(const SimulatedSlurm::Job& job) {
  world_.say("Slurm starts " + job.name + " as job " + std::to_string(job.id));
  for (int slot = 0; slot < job.slot_count(); ++slot) StartAgent(job, slot);
}

void SimulatedCluster::StartAgent(const SimulatedSlurm::Job& job, int slot) {
  if (down_.contains(job.nodes.at(static_cast<std::size_t>(slot)))) return;  // Slurm does not know that yet
  const Agent agent = std::make_shared<agent::SimulatedAgent>(
      world_.loop.get_executor(), around_agents_,
      agent::SimulatedAgent::Place{.job = job.id,
                                   .slot = slot,
                                   .node = job.nodes.at(static_cast<std::size_t>(slot)),
                                   .ticket = job.ticket,
                                   .instance = "instance " + std::to_string(++instances_)});
  agents_.push_back(agent);
  tasks_.Spawn(Live(agent));
}

awaitable<void> SimulatedCluster::Live(Agent agent) {
  co_await agent->Run();
  std::erase(agents_, agent);
  ended_.push_back(agent);
  const std::int64_t id = agent->place().job;
  if (AgentsOf(id).empty()) slurm_.OnEmpty(id);
}

std::vector<SimulatedCluster::Agent> SimulatedCluster::AgentsOf(std::int64_t id) const {
  std::vector<Agent> found;
  for (const Agent& agent : agents_)
    if (agent->place().job == id) found.push_back(agent);
  return found;
}

void SimulatedCluster::WarnAgents(std::int64_t id) {
  for (const Agent& agent : AgentsOf(id)) agent->EndSlot(true, kKillWait);
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

void SimulatedCluster::KillAgents(std::int64_t id) {
  for (const Agent& agent : AgentsOf(id)) agent->Kill();
}

awaitable<void> SimulatedCluster::Schedule() {
  for (;;) {
    co_await Pause(milliseconds(50 + Below(1'000)));
    slurm_.Schedule();
  }
}

// --- faults

template <class Is>
std::optional<std::int64_t> SimulatedCluster::OneOf(const Is& is) {
  std::vector<std::int64_t> found;
  for (const auto& [id, job] : slurm_.jobs())
    if (is(job)) found.push_back(id);
  return found.empty() ? std::nullopt : std::optional(found[Below(found.size())]);
}

SimulatedCluster::Agent SimulatedCluster::OneAgent() {
  return agents_.empty() ? nullptr : agents_[Below(agents_.size())];
}

void SimulatedCluster::LoseNode() {
  const std::string node = nodes_[Below(nodes_.size())];
  if (down_.erase(node) != 0) {
    world_.say(node + " is back");
    if (slurm_.has_node(node)) slurm_.LoseNode(node);  // Slurm sees that it was started anew
    return slurm_.AddNode(node);
  }
  world_.say(node + " loses its power");
  down_.insert(node);
  for (const Agent& agent : std::vector<Agent>(agents_)) {
    if (agent->place().node != node) continue;
    agent->FallSilent(std::chrono::hours(1));
    agent->Kill();
  }
  tasks_.Spawn(NoticeLostNode(node));
}

awaitable<void> SimulatedCluster::NoticeLostNode(std::string node) {
  co_await Pause(seconds(1) + milliseconds(Below(milliseconds(kNodeNoticedMax).count())));
  if (down_.contains(node) && slurm_.has_node(node)) slurm_.LoseNode(node);
}

void SimulatedCluster::StartTwice() {
  const auto id = OneOf([](const SimulatedSlurm::Job& job) { return job.state == "RUNNING"; });
  if (!id) return;
  const SimulatedSlurm::Job& job = slurm_.jobs().at(*id);
  const int slot = static_cast<int>(Below(static_cast<std::size_t>(job.slot_count())));
  if (job.nodes[static_cast<std::size_t>(slot)].empty()) return;
  world_.say("an agent of job " + std::to_string(*id) + " is started twice");
  StartAgent(job, slot);
}

void SimulatedCluster::CancelOne() {
  const auto id = OneOf([](const SimulatedSlurm::Job& job) { return !job.is_over(); });
  if (!id || !world_.may_cancel(*UidOf(slurm_.jobs().at(*id)))) return;
  world_.say("somebody cancels job " + std::to_string(*id) + " of Slurm");
  slurm_.Cancel(*id);
}

void SimulatedCluster::LimitOne() {
  const auto id = OneOf([](const SimulatedSlurm::Job& job) { return job.state == "RUNNING"; });
  if (!id || !world_.may_cancel(*UidOf(slurm_.jobs().at(*id)))) return;
  world_.say("the time limit of job " + std::to_string(*id) + " is near");
  WarnAgents(*id);
  tasks_.Spawn(ReachTimeLimit(*id));
}

awaitable<void> SimulatedCluster::ReachTimeLimit(std::int64_t id) {
  const auto name_of = [this](std::int64_t one) {
    const auto found = slurm_.jobs().find(one);
    return found == slurm_.jobs().end() ? std::string() : found->second.name + found->second.comment;
  };
  const std::string name = name_of(id);
  co_await Pause(milliseconds(Below(40'000)));
  if (name_of(id) == name) slurm_.ReachTimeLimit(id);
}

void SimulatedCluster::HaveFault() {
  const Agent agent = OneAgent();
  const auto running = OneOf([](const SimulatedSlurm::Job& job) { return job.state == "RUNNING"; });
  switch (Below(14)) {
    case 0: world_.say("sbatch will not answer"); return slurm_.LoseNextAnswer();
    case 1:
      world_.say("Slurm is slow");
      return slurm_.DelayAnswers(static_cast<int>(1 + Below(4)), seconds(15));
    case 2: world_.say("squeue lists everything twice"); return slurm_.DoubleNextList();
    case 3: world_.say("squeue leaves jobs out"); return slurm_.CutNextList();
    case 4:
      world_.say(slurm_.away() ? "Slurm's controller is back" : "Slurm's controller is away");
      return slurm_.SetAway(!slurm_.away());
    case 5: world_.say("Slurm's controller is killed and starts again"); return slurm_.KillController();
    case 6: return LoseNode();
    case 7:
      if (!running) return;
      world_.say("job " + std::to_string(*running) + " of Slurm is requeued");
      return slurm_.Requeue(*running);
    case 8: return CancelOne();
    case 9: return LimitOne();
    case 10: return StartTwice();
    case 11:
      if (!agent) return;
      world_.say("the connection of an agent breaks");
      return agent->CutLine();
    case 12:
      if (!agent) return;
      world_.say("the network of an agent loses everything for a while");
      return agent->FallSilent(seconds(Below(60)));
    default:
      if (!agent) return;
      world_.say("an agent is killed with all that it started");
      return agent->Kill();
  }
}

void SimulatedCluster::StopFaults() {
  slurm_.StopFaults();
  for (const std::string& node : std::set<std::string>(std::exchange(down_, {}))) {
    if (slurm_.has_node(node)) slurm_.LoseNode(node);
    slurm_.AddNode(node);
  }
}

// --- promises

std::string SimulatedCluster::Left() const {
  std::string left;
  for (const auto& [id, job] : slurm_.jobs())
    if (!job.is_over()) left += "; job " + std::to_string(id) + " (" + job.name + ") is " + job.state;
  for (const Agent& agent : agents_)
    left += "; an agent of job " + std::to_string(agent->place().job) + " lives on " + agent->place().node;
  return left;
}

/// Only one agent is welcome in each slot.
std::string SimulatedCluster::Broken() const {
  std::set<std::pair<std::string, int>> taken;
  for (const Agent& agent : agents_) {
    if (!agent->is_welcome() || !agent->lives()) continue;
    const auto& [job, slot, node, ticket, instance] = agent->place();
    if (!taken.emplace(ticket, slot).second)
      return "two agents have slot " + std::to_string(slot) + " of job " + std::to_string(job);
  }
  return "";
}

}  // namespace trainyard::control
