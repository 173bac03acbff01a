#include "control/testing/simulated_slurm.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/wire/time.h"

namespace trainyard::control {

namespace {

using engine::SlurmAnswer;
using engine::SlurmRefusal;

/// A controller that is killed has not saved the jobs of the last seconds.
constexpr std::chrono::seconds kNotSaved{5};
/// After this time a tool gives up.
constexpr std::chrono::seconds kToolWaitMax{10};
/// Ended jobs are listed for so long: MinJobAge.
constexpr std::chrono::seconds kListedAfterEnd{300};

std::unexpected<SlurmRefusal> NoAnswer(const std::string& words) {
  return std::unexpected(SlurmRefusal{.failure = slurm::Failure::kNoAnswer, .words = words});
}

std::unexpected<SlurmRefusal> Away() { return NoAnswer("Unable to contact slurm controller"); }

std::chrono::nanoseconds RandomUpTo(SimulatedTime& time, std::chrono::nanoseconds max) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(time.random()() % static_cast<std::uint64_t>(max.count() + 1)));
}

std::string PrintTime(SysTime time) {
  if (time == SysTime()) return "N/A";
  return wire::PrintTime(time).substr(0, std::string_view("2026-11-20T18:02:37").size());
}

std::string Line(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const std::string_view field : fields) line.append(line.empty() ? "" : "|").append(field);
  return line + "\n";
}

std::string Joined(std::span<const std::string> nodes) {
  std::string text;
  for (const std::string& node : nodes)
    if (!node.empty()) text += (text.empty() ? "" : ",") + node;
  return text;
}

class Client final : public engine::SlurmClient {
 public:
  explicit Client(SimulatedSlurm& slurm) : slurm_(slurm) {}
  [[nodiscard]] SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                 const slurm::GangRequest& request) const override {
    return slurm_.Submit(batch, request);
  }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const override {
    return slurm_.List(id);
  }
  [[nodiscard]] SlurmAnswer<void> Cancel(const std::string& name,
                                         std::span<const std::int64_t> ids) const override {
    return slurm_.CancelJobs(name, ids);
  }
  [[nodiscard]] SlurmAnswer<void> Check(const slurm::Options&) const override { return {}; }
  [[nodiscard]] SlurmAnswer<std::vector<slurm::Node>> Nodes() const override { return slurm_.ListNodes(); }

 private:
  SimulatedSlurm& slurm_;
};

}  // namespace

std::unique_ptr<engine::SlurmClient> MakeClient(SimulatedSlurm& slurm) {
  return std::make_unique<Client>(slurm);
}

int SimulatedSlurm::Job::slot_count() const { return std::accumulate(slots.begin(), slots.end(), 0); }

// --- what happens in the cluster

void SimulatedSlurm::AddNode(const std::string& node) {
  known_.insert(node);
  up_.insert(node);
}

/// Jobs are submitted with --no-kill: a job continues without the node, unless it has no other.
void SimulatedSlurm::LoseNode(const std::string& node) {
  up_.erase(node);
  for (auto& [id, job] : jobs_) {
    if (!job.is_active() || std::ranges::find(job.nodes, node) == job.nodes.end()) continue;
    std::ranges::replace(job.nodes, node, std::string());
    const bool is_gone = std::ranges::all_of(job.nodes, &std::string::empty);
    if (is_gone || job.slots.size() > 1) Stop(job, "NODE_FAIL");
    if (is_gone) Finish(job, "NODE_FAIL");
  }
}

void SimulatedSlurm::Schedule() {
  if (away_) return;
  const SysTime now = time_.TrueNow();
  std::erase_if(jobs_, [now](const auto& entry) {
    return entry.second.is_over() && entry.second.ended + kListedAfterEnd < now;
  });
  while (!coming_.empty() && coming_.begin()->first <= now) Accept(coming_.extract(coming_.begin()).mapped());
  std::set<std::string> free = up_;
  for (const auto& [id, job] : jobs_)
    if (job.is_active())
      for (const std::string& node : job.nodes) free.erase(node);
  for (auto& [id, job] : jobs_) {
    if (job.state != "PENDING") continue;
    job.reason = "Resources";
    if (std::ssize(free) < job.slot_count()) continue;  // a smaller one may start before it
    job.nodes.clear();
    for (int slot = 0; slot < job.slot_count(); ++slot)
      job.nodes.push_back(free.extract(free.begin()).value());
    job.state = "RUNNING";
    job.reason = "None";
    job.started = now;
    ++job.starts;
    nodes_.StartAgents(job);
  }
}

void SimulatedSlurm::OnEmpty(std::int64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.is_active()) return;
  Job& job = found->second;
  Finish(job, job.state == "COMPLETING" ? job.ends_as : "COMPLETED");
}

void SimulatedSlurm::Stop(Job& job, const std::string& ends_as) {
  if (job.state == "PENDING") return Finish(job, ends_as);
  if (job.state != "RUNNING") return;
  job.state = "COMPLETING";
  job.ends_as = ends_as;
  nodes_.EndAgents(job.id);
}

void SimulatedSlurm::Finish(Job& job, const std::string& state) {
  job.state = state;
  job.ended = time_.TrueNow();
}

void SimulatedSlurm::KillController() {
  const SysTime now = time_.TrueNow();
  controller_start_ = now;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    Job& job = at->second;
    if (job.submitted + kNotSaved < now) {
      ++at;
      continue;
    }
    next_id_ = std::min(next_id_, job.id);
    nodes_.KillAgents(job.id);  // since the nodes report which jobs they run
    at = jobs_.erase(at);
  }
}

void SimulatedSlurm::Requeue(std::int64_t id) {
  Job& job = jobs_.at(id);
  nodes_.KillAgents(id);
  job.state = "PENDING";
  job.reason = "BeginTime";
  job.nodes.clear();
}

// --- its tools

void SimulatedSlurm::Delay() {
  if (slow_max_.count() > 0) time_.AnswerLater(RandomUpTo(time_, slow_max_));
}

std::int64_t SimulatedSlurm::Accept(Job job) {
  job.id = next_id_;
  job.submitted = time_.TrueNow();
  next_id_ += std::ssize(job.slots);
  jobs_.insert_or_assign(job.id, job);
  return job.id;
}

SlurmAnswer<std::int64_t> SimulatedSlurm::Submit(const slurm::BatchJob& batch,
                                                 const slurm::GangRequest& request) {
  Delay();
  TY_CHECK(!slurm::BatchScript(batch, request).empty());
  if (away_) return Away();
  Job job{.name = slurm::JobName(batch.installation, batch.submission.gang),
          .comment = slurm::Comment(batch.submission),
          .ticket = batch.boot.ticket};
  for (const slurm::Component& component : request.components)
    job.slots.push_back(static_cast<int>(component.replicas.size()));
  const auto lost = std::exchange(loses_answer_, std::nullopt);
  if (!lost) return Accept(std::move(job));
  coming_.emplace(time_.TrueNow() + RandomUpTo(time_, *lost), std::move(job));
  time_.AnswerLater(kToolWaitMax);
  return NoAnswer("Socket timed out on send/recv operation");
}

void SimulatedSlurm::Print(std::string& text, const Job& job, bool is_cut) const {
  std::size_t slot = 0;
  for (std::size_t i = 0; i < job.slots.size(); ++i) {
    const auto size = static_cast<std::size_t>(job.slots[i]);
    const std::string nodes = job.nodes.empty() ? "" : Joined(std::span(job.nodes).subspan(slot, size));
    slot += size;
    if (is_cut && i > 0) return;
    text += Line({std::to_string(job.id + static_cast<std::int64_t>(i)), job.state, nodes,
                  PrintTime(job.started), PrintTime(job.submitted), job.name, job.comment, job.reason});
  }
}

SlurmAnswer<std::vector<slurm::ListedJob>> SimulatedSlurm::List(std::optional<std::int64_t> id) {
  Delay();
  if (away_) return Away();
  std::string text = "JOBID|STATE|NODELIST|START_TIME|SUBMIT_TIME|NAME|COMMENT|REASON\n";
  const bool is_cut = std::exchange(cuts_list_, false);
  const bool is_doubled = !id && std::exchange(doubles_list_, false);
  for (int round = 0; round < (is_doubled ? 2 : 1); ++round) {
    for (const auto& [one, job] : jobs_) {
      const bool is_asked = !id || (*id >= one && *id < one + std::ssize(job.slots));
      if (is_asked && !(is_cut && one % 2 == 0)) Print(text, job, is_cut);
    }
  }
  Result<std::vector<slurm::ListedJob>> jobs = slurm::ParseJobList(text);
  TY_CHECK(jobs.has_value());
  slurm::MarkForgotten(*jobs, controller_start_);
  return *std::move(jobs);
}

SlurmAnswer<void> SimulatedSlurm::CancelJobs(const std::string& name, std::span<const std::int64_t> ids) {
  Delay();
  if (away_) return Away();
  for (auto& [id, job] : jobs_) {
    const auto is_its = [&job](std::int64_t one) {
      return one >= job.id && one < job.id + std::ssize(job.slots);
    };
    if (job.name == name && !job.is_over() && std::ranges::any_of(ids, is_its)) Stop(job, "CANCELLED");
  }
  return {};
}

SlurmAnswer<std::vector<slurm::Node>> SimulatedSlurm::ListNodes() {
  Delay();
  if (away_) return Away();
  std::string text = "PARTITION|NODELIST|CPUS|MEMORY|TIMELIMIT|AVAIL|STATE|NODE_ADDR|GRES\n";
  for (const std::string& node : known_)
    text += Line({"main*", node, "4", "64000", "infinite", "up", up_.contains(node) ? "idle" : "down",
                  "192.0.2." + node.substr(node.size() - 1), "(null)"});
  Result<std::vector<slurm::Node>> nodes = slurm::ParseNodeList(text);
  TY_CHECK(nodes.has_value());
  return *std::move(nodes);
}

}  // namespace trainyard::control
