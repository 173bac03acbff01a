#include <algorithm>
#include <ranges>
#include <utility>

#include "rules/slurm/testing/model_cluster.h"

/// The side of Slurm, its nodes and the agents, and what may happen at each moment.
namespace trainyard::slurm {

using Kind = ClusterStep::Kind;

namespace {

using Agent = ModelCluster::Agent;
using Call = ModelCluster::Call;
using GangState = ModelCluster::GangState;
using Job = ModelCluster::Job;
using Question = ModelCluster::Question;

/// Two events do not happen at the same time. No history has so many that they take a second.
constexpr std::chrono::microseconds kTick{1};

std::optional<std::array<int, 2>> FreeNodes(const ModelCluster& world, int slots) {
  unsigned busy = ~world.up;
  for (const Job& job : world.jobs) {
    if (!job.is_known || (job.state != JobState::kRunning && job.state != JobState::kEnding)) continue;
    for (const int node : job.nodes)
      if (node >= 0) busy |= 1U << static_cast<unsigned>(node);
  }
  std::array<int, 2> found{-1, -1};
  int count = 0;
  for (int node = 0; node < ModelCluster::kNodes && count < slots; ++node)
    if ((busy & 1U << static_cast<unsigned>(node)) == 0) found[static_cast<std::size_t>(count++)] = node;
  return count == slots ? std::optional(found) : std::nullopt;
}

void AddFault(const ModelCluster& world, std::vector<ClusterStep>& steps, ClusterFault fault, int what = 0,
              int who = 0) {
  if (world.Happened(fault)) return;
  steps.push_back({.kind = Kind::kFault,
                   .what = static_cast<std::int8_t>(what),
                   .who = static_cast<std::int8_t>(who),
                   .fault = fault});
}

void AddGangSteps(const ModelCluster& world, int g, std::vector<ClusterStep>& steps) {
  const GangState& gang = world.gangs[static_cast<std::size_t>(g)];
  const auto add = [&steps, g](Kind kind, bool is_urgent) {
    steps.push_back({.kind = kind, .what = static_cast<std::int8_t>(g), .is_urgent = is_urgent});
  };
  if (!gang.is_begun) add(Kind::kWant, false);
  if (gang.grant_is_told) add(Kind::kRecordGrant, true);
  if (gang.loss_is_told || gang.record.is_granted) add(Kind::kReturn, gang.loss_is_told);
  if (gang.is_begun && !gang.is_over && !gang.loss_is_told && !gang.record.is_granted)
    AddFault(world, steps, kUserCancels, g);
  if (gang.is_over) AddFault(world, steps, kWantedAgain, g);
  const bool is_late = gang.call.is_late && world.now < gang.call.began + kCallMax;
  switch (gang.call.stage) {
    case Call::Stage::kNone: break;
    case Call::Stage::kToIssue: add(Kind::kIssue, true); break;
    case Call::Stage::kCalls:
      add(Kind::kTake, !is_late);
      for (int variant = 0; variant < 3; ++variant) AddFault(world, steps, kAnswerLost, g, variant);
      AddFault(world, steps, kRefused, g);
      AddFault(world, steps, kSubmitLate, g);
      break;
    case Call::Stage::kTaken: add(Kind::kAnswerSubmit, !is_late); break;
  }
  if (!gang.lost_call) return;
  const bool is_due = world.now >= gang.lost_call->began + kCallMax;
  add(Kind::kTakeLate, is_due);
  add(Kind::kDropLate, is_due);
}

void AddQuestionSteps(const ModelCluster& world, int q, std::vector<ClusterStep>& steps) {
  const Question& question = world.questions[static_cast<std::size_t>(q)];
  const bool is_urgent = !question.is_late || world.now >= question.asked + kCallMax;
  steps.push_back({.kind = question.seen ? Kind::kAnswerList : Kind::kSeeJobs,
                   .what = static_cast<std::int8_t>(q),
                   .is_urgent = is_urgent});
  AddFault(world, steps, kListLate, q);
  if (question.seen) return;
  AddFault(world, steps, kListFails, q);
  AddFault(world, steps, kListDoubled, q);
  for (int j = 0; j < std::ssize(world.jobs); ++j) AddFault(world, steps, kListIncomplete, q, j);
}

void AddAgentSteps(const ModelCluster& world, int j, int a, std::vector<ClusterStep>& steps) {
  const Job& job = world.jobs[static_cast<std::size_t>(j)];
  const Agent& agent = job.agents[static_cast<std::size_t>(a)];
  if (!agent.lives()) return;
  const int what = j * ModelCluster::kAgentsMax + a;
  const auto add = [&steps, what](Kind kind, bool is_urgent) {
    steps.push_back({.kind = kind, .what = static_cast<std::int8_t>(what), .is_urgent = is_urgent});
  };
  if (agent.is_dying) add(Kind::kDie, false);
  if (agent.stage == Agent::Stage::kAttached) {
    if (agent.is_told_to_leave) add(Kind::kLeave, !agent.is_late);
    AddFault(world, steps, kAgentCut, what);
    AddFault(world, steps, kAgentSilent, what);
  } else if (Claims claims = world.claims; TryToEnter(world, job, a, claims) != Entry::kWaits) {
    add(Kind::kCome, !agent.is_late && !agent.is_dying);
  }
  AddFault(world, steps, kAgentKilled, what);
  if (!agent.is_late) AddFault(world, steps, kAgentLate, what);
}

void AddJobSteps(const ModelCluster& world, int j, std::vector<ClusterStep>& steps) {
  const Job& job = world.jobs[static_cast<std::size_t>(j)];
  for (int a = 0; a < ModelCluster::kAgentsMax; ++a) AddAgentSteps(world, j, a, steps);
  const auto holds_up = [](const Agent& agent) { return agent.lives() && !agent.is_cut_off; };
  const bool is_empty = std::ranges::none_of(job.agents, holds_up);
  const bool is_running = job.is_known && job.state == JobState::kRunning;
  if (is_empty && (is_running || job.state == JobState::kEnding))
    steps.push_back({.kind = Kind::kEnd, .what = static_cast<std::int8_t>(j), .is_urgent = true});
  if (!job.is_known) return;
  if (job.state == JobState::kPending && FreeNodes(world, world.Of(job.whose.gang).slots))
    steps.push_back({.kind = Kind::kStart, .what = static_cast<std::int8_t>(j)});
  if (job.state != JobState::kPending && !is_running) return;
  AddFault(world, steps, kCancelledThere, j);
  AddFault(world, steps, kForgotten, j);
  if (!is_running) return;
  AddFault(world, steps, kRequeued, j);
  AddFault(world, steps, kTimeLimit, j, 0);
  AddFault(world, steps, kTimeLimit, j, 1);
  if (!is_empty) AddFault(world, steps, kAgentTwice, j);
}

void AddTime(const ModelCluster& world, std::vector<ClusterStep>& steps) {
  const bool is_busy = std::ranges::any_of(steps, &ClusterStep::is_urgent);
  if (!is_busy && NextTime(world)) steps.push_back({.kind = ClusterStep::Kind::kTimePasses});
}

// --- what happens

void Detach(ModelCluster& world, Job& job, int a, bool closed) {
  Agent& agent = job.agents[static_cast<std::size_t>(a)];
  if (agent.stage != Agent::Stage::kAttached) return;
  agent.stage = Agent::Stage::kAway;
  world.rules.OnDetached(job.whose, SlotOf(a), closed, world.now);
}

void RefuseSubmit(ModelCluster& world, GangState& gang) {
  const Call call = std::exchange(gang.call, {});
  world.rules.OnNotSubmitted(call.whose, Failure::kLater, "not now", world.now);
}

/// Different for all agents, and for one that is started again; it does not depend on the order of starts.
int InstanceOf(const Job& job, int a) {
  const auto gang = static_cast<int>(job.whose.gang.job_uid);
  return ((128 * gang + job.ticket) * 4 + job.starts) * ModelCluster::kAgentsMax + a;
}

void StartJob(ModelCluster& world, Job& job) {
  const int slots = world.Of(job.whose.gang).slots;
  job.nodes = *FreeNodes(world, slots);
  job.state = JobState::kRunning;
  ++job.starts;
  for (int slot = 0; slot < slots; ++slot)
    job.agents[static_cast<std::size_t>(slot)] = {.stage = Agent::Stage::kComes,
                                                  .instance = InstanceOf(job, slot)};
}

void StopJob(Job& job, JobState ends_as) {
  job.ends_as = ends_as;
  job.state = job.state == JobState::kPending ? ends_as : JobState::kEnding;
  for (Agent& agent : job.agents) agent.is_dying = agent.lives();
}

void CancelSome(ModelCluster& world) {
  const ModelCluster::Cancel cancel = world.cancels.front();
  world.cancels.erase(world.cancels.begin());
  for (Job& job : world.jobs) {
    const bool is_meant = job.is_known && job.whose.gang == cancel.gang &&
                          std::ranges::find(cancel.ids, job.id) != cancel.ids.end();
    if (is_meant && !HasEnded(job.state)) StopJob(job, JobState::kCancelled);
  }
}

void EndJob(Job& job) { job.state = job.state == JobState::kEnding ? job.ends_as : JobState::kOver; }

void Requeue(ModelCluster& world, Job& job) {
  for (int a = 0; a < ModelCluster::kAgentsMax; ++a) EndAgent(world, job, a);
  job.state = JobState::kPending;
  job.nodes = {-1, -1};
}

void ReachLimit(ModelCluster& world, Job& job, bool is_noticed) {
  if (!is_noticed) return StopJob(job, JobState::kTimeLimit);
  for (Agent& agent : job.agents) {
    if (agent.stage == Agent::Stage::kAttached) world.rules.OnTimeLimit(job.whose);
    agent.is_dying = agent.lives();
  }
}

/// The node learns later that Slurm does not know the job any more, and ends its processes.
void ForgetJob(ModelCluster& world, Job& job) {
  job.is_known = false;
  world.free_id = job.id;
  for (Agent& agent : job.agents) agent.is_dying = agent.lives();
}

/// Jobs are submitted with --no-kill: a job goes on without the node, unless it has no other.
void LoseNode(ModelCluster& world, int node) {
  world.up &= ~(1U << static_cast<unsigned>(node));
  for (Job& job : world.jobs) {
    if (job.state != JobState::kRunning && job.state != JobState::kEnding) continue;
    for (int a = 0; a < ModelCluster::kAgentsMax; ++a) {
      Agent& agent = job.agents[static_cast<std::size_t>(a)];
      if (job.nodes[static_cast<std::size_t>(SlotOf(a))] != node || !agent.lives()) continue;
      agent.is_cut_off = agent.is_dying = agent.is_late = true;
      Detach(world, job, a, false);
    }
    std::ranges::replace(job.nodes, node, -1);
    if (job.is_known && job.nodes == std::array{-1, -1}) job.state = JobState::kNodeLost;
  }
}

/// Removes jobs that no rule asks about any more.
void DropOldJobs(ModelCluster& world) {
  std::erase_if(world.jobs, [&world](const Job& job) {
    if (std::ranges::any_of(job.agents, &Agent::lives)) return false;
    if (!job.is_known) return true;
    const GangState& gang = world.Of(job.whose.gang);
    return HasEnded(job.state) && (gang.is_forgotten || gang.record.submission > job.whose.number);
  });
}

void PassTime(ModelCluster& world) { world.now = std::max(world.now, NextTime(world).value_or(world.now)); }

void DoFault(ModelCluster& world, const ClusterStep& step) {
  const auto what = static_cast<std::size_t>(step.what);
  const auto agent_of = [&world, what]() -> Agent& {
    return world.jobs[what / ModelCluster::kAgentsMax].agents[what % ModelCluster::kAgentsMax];
  };
  switch (static_cast<ClusterFault>(step.fault)) {
    case kServerCrash: return CrashServer(world, step.who == 0);
    case kAnswerLost: return LoseAnswer(world, world.gangs[what], step.who);
    case kRefused: return RefuseSubmit(world, world.gangs[what]);
    case kListFails: {
      const auto id = world.questions[what].id;
      world.questions.erase(world.questions.begin() + step.what);
      return world.rules.OnListFailed(id, "no answer", world.now);
    }
    case kListIncomplete: return SeeJobs(world, world.questions[what], step.who, false);
    case kListDoubled: return SeeJobs(world, world.questions[what], -1, true);
    case kListLate: world.questions[what].is_late = true; return;
    case kSubmitLate: world.gangs[what].call.is_late = true; return;
    case kCancelLost: world.cancels.erase(world.cancels.begin()); return;
    case kRequeued: return Requeue(world, world.jobs[what]);
    case kCancelledThere: return StopJob(world.jobs[what], JobState::kCancelled);
    case kNodeLost: return LoseNode(world, step.what);
    case kTimeLimit: return ReachLimit(world, world.jobs[what], step.who == 0);
    case kForgotten: return ForgetJob(world, world.jobs[what]);
    case kAgentKilled:
      return EndAgent(world, world.jobs[what / ModelCluster::kAgentsMax],
                      step.what % ModelCluster::kAgentsMax);
    case kAgentCut:
      return Detach(world, world.jobs[what / ModelCluster::kAgentsMax], step.what % ModelCluster::kAgentsMax,
                    true);
    case kAgentSilent:
      agent_of().is_late = true;
      return Detach(world, world.jobs[what / ModelCluster::kAgentsMax], step.what % ModelCluster::kAgentsMax,
                    false);
    case kAgentTwice:
      world.jobs[what].agents[2] = {.stage = Agent::Stage::kComes,
                                    .instance = InstanceOf(world.jobs[what], 2)};
      return;
    case kAgentLate: agent_of().is_late = true; return;
    case kUserCancels: return Return(world, step.what);
    case kWantedAgain:
      world.gangs[what].is_over = world.gangs[what].is_forgotten = false;
      world.gangs[what].had_room = world.gangs[what].lost_room = false;
      return Want(world, step.what);
  }
}

}  // namespace

std::vector<ClusterStep> StepsOf(const ModelCluster& world) {
  std::vector<ClusterStep> steps;
  steps.reserve(32);
  for (int g = 0; g < std::ssize(world.gangs); ++g) AddGangSteps(world, g, steps);
  for (int q = 0; q < std::ssize(world.questions); ++q) AddQuestionSteps(world, q, steps);
  if (!world.cancels.empty()) {
    steps.push_back({.kind = Kind::kCancel, .is_urgent = true});
    AddFault(world, steps, kCancelLost);
  }
  for (int j = 0; j < std::ssize(world.jobs); ++j) AddJobSteps(world, j, steps);
  for (int node = 0; node < ModelCluster::kNodes; ++node) {
    if ((world.up & 1U << static_cast<unsigned>(node)) == 0)
      steps.push_back({.kind = Kind::kNodeBack, .what = static_cast<std::int8_t>(node)});
    else
      AddFault(world, steps, kNodeLost, node);
  }
  AddFault(world, steps, kServerCrash);
  const auto is_unsaved = [](const GangState& gang) { return gang.record != gang.disk; };
  if (std::ranges::any_of(world.gangs, is_unsaved)) AddFault(world, steps, kServerCrash, 0, 1);
  AddTime(world, steps);
  return steps;
}

void Do(ModelCluster& world, const ClusterStep& step) {
  world.now += kTick;
  const auto what = static_cast<std::size_t>(step.what);
  if (step.fault != kServerCrash)
    for (GangState& gang : world.gangs) gang.disk = gang.record;
  switch (step.kind) {
    case Kind::kWant: Want(world, step.what); break;
    case Kind::kReturn: Return(world, step.what); break;
    case Kind::kRecordGrant:
      world.gangs[what].grant_is_told = false;
      world.gangs[what].record.is_granted = world.gangs[what].disk.is_granted = true;
      break;
    case Kind::kIssue: Issue(world, world.gangs[what]); break;
    case Kind::kTake: TakeJob(world, world.gangs[what].call); break;
    case Kind::kAnswerSubmit: AnswerSubmit(world, world.gangs[what]); break;
    case Kind::kSeeJobs: SeeJobs(world, world.questions[what], -1, false); break;
    case Kind::kAnswerList: AnswerList(world, step.what); break;
    case Kind::kStart: StartJob(world, world.jobs[what]); break;
    case Kind::kCome:
      Come(world, world.jobs[what / ModelCluster::kAgentsMax], step.what % ModelCluster::kAgentsMax);
      break;
    case Kind::kLeave:
    case Kind::kDie:
      EndAgent(world, world.jobs[what / ModelCluster::kAgentsMax], step.what % ModelCluster::kAgentsMax);
      break;
    case Kind::kEnd: EndJob(world.jobs[what]); break;
    case Kind::kTakeLate: TakeJob(world, *world.gangs[what].lost_call); [[fallthrough]];
    case Kind::kDropLate: world.gangs[what].lost_call.reset(); break;
    case Kind::kCancel: CancelSome(world); break;
    case Kind::kNodeBack: world.up |= 1U << static_cast<unsigned>(step.what); break;
    case Kind::kTimePasses: PassTime(world); break;
    case Kind::kFault: DoFault(world, step); break;
  }
  world.faults |= step.fault;
  Act(world);
  CheckForgotten(world);
  DropOldJobs(world);
}

void TakeJob(ModelCluster& world, Call& call) {
  // Ids of different gangs are different, and do not depend on the order in which they are taken.
  constexpr std::int64_t kIdsOfGang = 20;
  GangState& gang = world.Of(call.whose.gang);
  call.id = world.free_id != 0 ? std::exchange(world.free_id, 0)
                               : kIdsOfGang * call.whose.gang.job_uid + gang.next_id++;
  call.stage = Call::Stage::kTaken;
  const auto place = std::ranges::upper_bound(world.jobs, call.whose, {}, &Job::whose);
  world.jobs.insert(place, {.id = call.id, .whose = call.whose, .ticket = call.ticket});
}

void SeeJobs(const ModelCluster& world, Question& question, int without, bool twice) {
  question.seen.emplace();
  for (int round = 0; round < (twice ? 2 : 1); ++round) {
    for (int j = 0; j < std::ssize(world.jobs); ++j) {
      const Job& job = world.jobs[static_cast<std::size_t>(j)];
      if (!job.is_known || j == without || (question.id && question.id != job.id)) continue;
      question.seen->push_back({.id = job.id, .whose = job.whose, .state = job.state, .nodes = job.nodes});
    }
  }
}

void EndAgent(ModelCluster& world, Job& job, int a) {
  Detach(world, job, a, true);
  Agent& agent = job.agents[static_cast<std::size_t>(a)];
  if (agent.stage != Agent::Stage::kNone) agent = {.stage = Agent::Stage::kEnded};
}

}  // namespace trainyard::slurm
