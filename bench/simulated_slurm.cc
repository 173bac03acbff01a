#include "simulated_slurm.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/slurm/slurm_engine.h"

namespace trainyard::bench {

namespace {

using engine::SlurmAnswer;
using engine::SlurmRefusal;
using slurm::JobState;

constexpr int kCpusOfNode = 32;
constexpr int kGpusOfNode = 8;
constexpr int kGpuNodesEach = 20;
constexpr int kSmallNodes = 8;
/// Slurm lists jobs for so long after their end (MinJobAge).
constexpr std::chrono::seconds kListedAfterEnd{300};
/// How far the line is looked through for one that fits.
constexpr int kLookedAtMax = 1'000;

std::string NodeLine(const std::string& partition, const std::string& name, bool has_gpus) {
  return partition + "|" + name + "|" + std::to_string(kCpusOfNode) + "|128000|infinite|up|idle|" +
         kNodeAddress + (has_gpus ? "|gpu:nvidia_tesla_t4:" + std::to_string(kGpusOfNode) : "|(null)") + "\n";
}

SlurmRefusal Away() {
  return {.failure = slurm::Failure::kNoAnswer, .words = "Unable to contact slurm controller"};
}

/// A call that is under way.
class Call {
 public:
  explicit Call(SimulatedSlurm& slurm) : slurm_(slurm) {
    slurm_.calls.With([](SimulatedCalls& calls) { ++calls.under_way; });
  }
  ~Call() {
    slurm_.calls.With([](SimulatedCalls& calls) { --calls.under_way; });
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] bool is_answered() const {
    return !slurm_.away.With([](bool away) { return away; });
  }

 private:
  SimulatedSlurm& slurm_;
};

}  // namespace

SimulatedCluster::SimulatedCluster(int nodes)
    : nodes_text_("PARTITION|NODELIST|CPUS|MEMORY|TIMELIMIT|AVAIL|STATE|NODE_ADDR|GRES\n") {
  for (int i = 0; i < nodes; ++i) {
    const bool has_gpus = i % kGpuNodesEach == 0;
    nodes_text_ += NodeLine("main*", "node" + std::to_string(i), has_gpus);
    free_.cpus += kCpusOfNode;
    if (has_gpus) free_.gpus += kGpusOfNode;
  }
  for (int i = 0; i < kSmallNodes; ++i) nodes_text_ += NodeLine("small", "small" + std::to_string(i), false);
}

std::int64_t SimulatedCluster::Submit(const slurm::BatchJob& batch, const slurm::GangRequest& request) {
  const std::int64_t id = next_id_++;
  Job job{.name = slurm::JobName(batch.installation, batch.submission.gang),
          .comment = slurm::Comment(batch.submission),
          .submission = batch.submission,
          .ticket = batch.boot.ticket,
          .fits = true};
  for (const slurm::Component& component : request.components) {
    const auto replicas = static_cast<int>(component.replicas.size());
    job.slots += replicas;
    job.takes.cpus += std::int64_t{replicas} * component.cpus;
    job.takes.gpus += std::int64_t{replicas} * component.gpus;
    if (component.options.partition == "small" && replicas > kSmallNodes) job.fits = false;
  }
  (job.fits ? pending_ : never_).insert(id);
  jobs_.emplace(id, std::move(job));
  return id;
}

void SimulatedCluster::PrintOne(std::string& text, std::int64_t id, const Job& job) const {
  std::string_view state = "PENDING";
  std::string_view nodes;
  std::string_view reason = "None";
  switch (job.state) {
    case JobState::kPending:
      reason = closed_     ? "PartitionDown"
               : !job.fits ? "PartitionNodeLimit"
                           : (id == *pending_.begin() ? "Resources" : "Priority");
      break;
    case JobState::kRunning: state = "RUNNING", nodes = "node[0-99]"; break;
    case JobState::kCancelled: state = "CANCELLED"; break;
    default: state = "COMPLETED"; break;
  }
  text += std::to_string(id);
  for (const std::string_view field : {state, nodes, std::string_view("N/A"), std::string_view("N/A"),
                                       std::string_view(job.name), std::string_view(job.comment), reason}) {
    text += '|';
    text += field;
  }
  text += '\n';
}

std::string SimulatedCluster::Print(std::optional<std::int64_t> id) const {
  std::string text = "JOBID|STATE|NODELIST|START_TIME|SUBMIT_TIME|NAME|COMMENT|REASON\n";
  if (!id) {
    for (const auto& [one, job] : jobs_) PrintOne(text, one, job);
  } else if (const auto job = jobs_.find(*id); job != jobs_.end()) {
    PrintOne(text, *id, job->second);
  }
  return text;
}

void SimulatedCluster::End(std::int64_t id, JobState state, SysTime now) {
  Job& job = jobs_.at(id);
  if (slurm::HasEnded(job.state)) return;
  if (job.state == JobState::kRunning) {
    free_.cpus += job.takes.cpus;
    free_.gpus += job.takes.gpus;
    changes_.push_back({.id = id, .submission = job.submission, .ticket = {}, .slots = job.slots});
  }
  job.state = state;
  pending_.erase(id);
  never_.erase(id);
  ended_[now].push_back(id);
}

void SimulatedCluster::Cancel(const std::string& name, std::span<const std::int64_t> ids, SysTime now) {
  for (const std::int64_t id : ids)
    if (const auto job = jobs_.find(id); job != jobs_.end() && job->second.name == name)
      End(id, JobState::kCancelled, now);
}

void SimulatedCluster::Complete(std::int64_t id, SysTime now) {
  if (jobs_.contains(id)) End(id, JobState::kOver, now);
}

bool SimulatedCluster::HasRoomFor(const Room& takes) const {
  return takes.cpus <= free_.cpus && takes.gpus <= free_.gpus;
}

std::vector<SimulatedCluster::Change> SimulatedCluster::Step(SysTime now) {
  int looked_at = 0;
  for (auto next = pending_.begin(); !closed_ && next != pending_.end() && ++looked_at <= kLookedAtMax;) {
    const std::int64_t id = *next;
    Job& job = jobs_.at(id);
    if (!HasRoomFor(job.takes)) {
      ++next;
      continue;
    }
    next = pending_.erase(next);
    job.state = JobState::kRunning;
    free_.cpus -= job.takes.cpus;
    free_.gpus -= job.takes.gpus;
    changes_.push_back(
        {.id = id, .submission = job.submission, .ticket = job.ticket, .slots = job.slots, .began = true});
  }
  while (!ended_.empty() && ended_.begin()->first + kListedAfterEnd < now) {
    for (const std::int64_t id : ended_.begin()->second) jobs_.erase(id);
    ended_.erase(ended_.begin());
  }
  return std::exchange(changes_, {});
}

SlurmAnswer<std::int64_t> SimulatedClient::Submit(const slurm::BatchJob& batch,
                                                  const slurm::GangRequest& request) const {
  const Call call(slurm_);
  if (!call.is_answered()) return std::unexpected(Away());
  slurm_.calls.With([](SimulatedCalls& calls) { ++calls.submissions; });
  const std::string script = slurm::BatchScript(batch, request);  // as every client prints it
  if (script.empty()) std::abort();
  return slurm_.cluster.With([&](SimulatedCluster& cluster) { return cluster.Submit(batch, request); });
}

SlurmAnswer<std::vector<slurm::ListedJob>> SimulatedClient::List(std::optional<std::int64_t> id) const {
  const Call call(slurm_);
  if (!call.is_answered()) return std::unexpected(Away());
  const double begin = ThreadSeconds();
  const std::string text = slurm_.cluster.With([id](SimulatedCluster& cluster) { return cluster.Print(id); });
  Result<std::vector<slurm::ListedJob>> jobs = slurm::ParseJobList(text);
  TY_CHECK(jobs.has_value());
  slurm_.calls.With([&](SimulatedCalls& calls) {
    if (id) ++calls.lists_of_one;
    if (id) return;
    ++calls.lists;
    calls.list_seconds += ThreadSeconds() - begin;
  });
  return *std::move(jobs);
}

SlurmAnswer<void> SimulatedClient::Cancel(const std::string& name, std::span<const std::int64_t> ids) const {
  const Call call(slurm_);
  if (!call.is_answered()) return std::unexpected(Away());
  slurm_.calls.With([](SimulatedCalls& calls) { ++calls.cancels; });
  slurm_.cluster.With([&](SimulatedCluster& cluster) { cluster.Cancel(name, ids, slurm_.clock.Now()); });
  return {};
}

SlurmAnswer<std::vector<slurm::Node>> SimulatedClient::Nodes() const {
  const Call call(slurm_);
  if (!call.is_answered()) return std::unexpected(Away());
  const std::string text = slurm_.cluster.With([](SimulatedCluster& cluster) { return cluster.nodes(); });
  Result<std::vector<slurm::Node>> nodes = slurm::ParseNodeList(text);
  TY_CHECK(nodes.has_value());
  return *std::move(nodes);
}

Result<std::unique_ptr<engine::ClusterEngine>> SlurmSimulation::Open(boost::asio::any_io_executor loop,
                                                                     const std::string& database,
                                                                     engine::RemoteAttemptHost& host) {
  engine::SlurmEngine::Options options{
      .settings = {.regions = {{"us-east1", "small"}}},
      .boot = {.source = SimulatedSource(), .program_path = "/usr/bin/trainyard", .ticket = {}},
      .clock = slurm_.clock,
      .client = std::make_unique<SimulatedClient>(slurm_)};
  return engine::SlurmEngine::Open(std::move(loop), database, std::move(options), host);
}

std::vector<AgentsChange> SlurmSimulation::Step(SysTime now) {
  std::vector<AgentsChange> changes;
  for (SimulatedCluster::Change& change :
       slurm_.cluster.With([now](SimulatedCluster& cluster) { return cluster.Step(now); })) {
    if (change.began) running_[change.submission] = change.id;
    changes.push_back({.submission = change.submission,
                       .ticket = std::move(change.ticket),
                       .slots = change.slots,
                       .began = change.began});
  }
  return changes;
}

void SlurmSimulation::Complete(const placement::Submission& submission, SysTime now) {
  const auto running = running_.find(submission);
  if (running == running_.end()) return;
  slurm_.cluster.With([&](SimulatedCluster& cluster) { cluster.Complete(running->second, now); });
  running_.erase(running);
}

bool SlurmSimulation::is_busy() const {
  return slurm_.calls.With([](const SimulatedCalls& calls) { return calls.under_way > 0; });
}

void SlurmSimulation::SetAway(bool away) {
  slurm_.away.With([away](bool& is_away) { is_away = away; });
}

void SlurmSimulation::SetClosed(bool closed) {
  slurm_.cluster.With([closed](SimulatedCluster& cluster) { cluster.SetClosed(closed); });
}

}  // namespace trainyard::bench
