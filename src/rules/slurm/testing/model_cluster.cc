#include "rules/slurm/testing/model_cluster.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include "rules/slurm/testing/gangs_key.h"

/// The server's side: what the rules say, and what happens to the server. Slurm's side and the agents' are in
/// model_slurm.cc.
namespace trainyard::slurm {

namespace {

using Agent = ModelCluster::Agent;
using Call = ModelCluster::Call;
using GangState = ModelCluster::GangState;
using Job = ModelCluster::Job;
using Question = ModelCluster::Question;

constexpr const char* kInstallation = "m";

std::string NodeName(int node) { return "n" + std::to_string(node); }

std::string NodesText(const std::array<int, 2>& nodes) {
  std::string text;
  for (const int node : nodes)
    if (node >= 0) text += (text.empty() ? "" : ",") + NodeName(node);
  return text;
}

OurJobs OursOf(const std::vector<ModelCluster::Seen>& seen) {
  std::vector<ListedJob> list;
  for (const ModelCluster::Seen& job : seen) {
    list.push_back({.id = job.id,
                    .name = JobName(kInstallation, job.whose.gang),
                    .comment = Comment(job.whose),
                    .state = job.state,
                    .state_text = "STATE",
                    .nodes = NodesText(job.nodes),
                    .reason = job.state == JobState::kPending ? "Resources" : "None"});
  }
  return slurm::OursOf(kInstallation, std::move(list));
}

// --- what the rules say

void Do(ModelCluster& world, const Submit& action) {
  Call& call = world.Of(action.submission.gang).call;
  if (call.stage != Call::Stage::kNone) return world.Break("a gang is submitted twice at the same time");
  call = {.stage = Call::Stage::kToIssue, .whose = action.submission, .began = world.now};
}

void Do(ModelCluster& world, const AskList& action) {
  world.questions.push_back({.id = action.id, .asked = world.now});
}

void Do(ModelCluster& world, const CancelJobs& action) {
  const auto whose = std::ranges::find(world.gangs, action.name, [&world](const GangState& gang) {
    return JobName(kInstallation, GangKeyOf(static_cast<int>(&gang - world.gangs.data())));
  });
  world.cancels.push_back(
      {.gang = GangKeyOf(static_cast<int>(whose - world.gangs.begin())), .ids = action.ids});
}

void Do(ModelCluster& world, const VoidTicket& action) {
  GangState& gang = world.Of(action.submission.gang);
  if (gang.record.submission == action.submission.number) gang.record.ticket = 0;
  world.claims.Forget(action.submission.gang);
  for (Job& job : world.jobs) {
    if (job.whose != action.submission) continue;
    for (Agent& agent : job.agents) agent.is_told_to_leave |= agent.stage == Agent::Stage::kAttached;
  }
  if (world.rules.IsCurrent(action.submission)) world.Break("a submission is current without a ticket");
}

void Do(ModelCluster& world, const GiveRoom& action) {
  GangState& gang = world.Of(action.submission.gang);
  if (gang.is_over) return world.Break("a gang has room that needs none");
  if (gang.lost_room) return world.Break("room is given again");
  if (gang.had_room) return world.Break("room is given twice");
  if (gang.record.submission != action.submission.number)
    return world.Break("another submission has the room");
  for (int slot = 0; slot < gang.slots; ++slot)
    if (gang.record.holders[static_cast<std::size_t>(slot)] == 0)
      return world.Break("a gang is half started");
  gang.had_room = gang.grant_is_told = true;
}

void Do(ModelCluster& world, const TakeBack& action) {
  GangState& gang = world.Of(action.gang);
  if (gang.is_over) return world.Break("room is taken back from a gang that needs none");
  gang.lost_room = gang.loss_is_told = true;
}

void Do(ModelCluster& world, const NothingLives& action) {
  for (const Job& job : world.jobs) {
    const auto works = [](const Agent& agent) { return agent.lives() && agent.was_in && !agent.is_cut_off; };
    if (job.whose == action.submission && job.is_known && std::ranges::any_of(job.agents, works))
      world.Break("an agent lives that is said to be dead");
  }
}

void Do(ModelCluster& /*world*/, const SayWait& /*action*/) {}

/// A job may be left that no list has shown: its sbatch was lost, or a list lacked it. Its agents are
/// refused, so it ends by itself.
void Do(ModelCluster& world, const Forget& action) {
  const bool may_be_left =
      world.Happened(kAnswerLost) || world.Happened(kServerCrash) || world.Happened(kListIncomplete);
  GangState& gang = world.Of(action.gang);
  if (gang.call.stage == Call::Stage::kCalls || gang.call.stage == Call::Stage::kTaken)
    world.Break("a gang is forgotten while sbatch runs");
  for (const Job& job : world.jobs) {
    const bool is_left = job.whose.gang == action.gang && job.is_known && !HasEnded(job.state);
    if (is_left && !may_be_left) world.Break("a gang is forgotten that has a job in Slurm");
  }
  world.claims.Forget(action.gang);
  gang.record = {};
  gang.is_forgotten = true;
}

}  // namespace

ModelCluster::ModelCluster(const std::vector<int>& slots) : rules(kInstallation) {
  for (const int count : slots) gangs.push_back({.slots = count});
}

void ModelCluster::Break(std::string what) {
  if (broken.empty()) broken = std::move(what);
}

bool IsOver(const ModelCluster& world) {
  const auto is_done = [](const GangState& gang) {
    return gang.is_over && gang.is_forgotten && gang.call.stage == Call::Stage::kNone && !gang.lost_call;
  };
  const auto lives = [](const Job& job) {
    return (job.is_known && !HasEnded(job.state)) || std::ranges::any_of(job.agents, &Agent::lives);
  };
  return std::ranges::all_of(world.gangs, is_done) && std::ranges::none_of(world.jobs, lives);
}

void Act(ModelCluster& world) {
  for (int round = 0; round < 100; ++round) {
    const std::vector<GangAction> actions = world.rules.Next(world.now);
    if (actions.empty()) return;
    for (const GangAction& action : actions)
      std::visit([&world](const auto& one) { Do(world, one); }, action);
  }
  world.Break("the rules never come to rest");
}

void CheckForgotten(ModelCluster& world) {
  constexpr unsigned kMayBeLeft = kAnswerLost | kServerCrash | kListIncomplete | kCancelLost;
  if ((world.faults & kMayBeLeft) != 0) return;
  for (const Job& job : world.jobs) {
    const GangState& gang = world.Of(job.whose.gang);
    const bool is_left = job.is_known && (job.state == JobState::kPending || job.state == JobState::kRunning);
    if (!is_left || !gang.is_forgotten || gang.call.stage != Call::Stage::kNone) continue;
    const auto is_for_it = [&job](const ModelCluster::Cancel& cancel) {
      return cancel.gang == job.whose.gang && std::ranges::find(cancel.ids, job.id) != cancel.ids.end();
    };
    if (std::ranges::none_of(world.cancels, is_for_it))
      world.Break("a job of a forgotten gang stays in Slurm");
  }
}

void Want(ModelCluster& world, int g) {
  GangState& gang = world.gangs[static_cast<std::size_t>(g)];
  Gangs::GangRequest wanted{.key = GangKeyOf(g),
                            .slots = gang.slots,
                            .last_submission = gang.record.submission,
                            .granted = gang.record.is_granted};
  for (int slot = 0; slot < gang.slots; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    if (gang.record.holders[at] != 0) wanted.attached.emplace(slot, NodeName(gang.record.nodes[at]));
  }
  gang.is_begun = gang.record.is_wanted = gang.disk.is_wanted = true;
  world.rules.Want(std::move(wanted), world.now);
}

void Return(ModelCluster& world, int g) {
  GangState& gang = world.gangs[static_cast<std::size_t>(g)];
  gang.is_over = true;
  gang.loss_is_told = gang.grant_is_told = false;
  gang.record.is_wanted = gang.record.is_granted = false;
  gang.disk.is_wanted = gang.disk.is_granted = false;
  world.rules.Release(GangKeyOf(g), world.now);
}

void Issue(ModelCluster& world, GangState& gang) {
  if (gang.is_over || !world.rules.IsCurrent(gang.call.whose)) {
    world.rules.OnNotSubmitted(gang.call.whose, Failure::kLater, "the job no longer needs it", world.now);
    gang.call = {};
    return;
  }
  gang.record.submission = gang.call.whose.number;
  constexpr int kSecondTime = 64;  // a gang that was forgotten begins with submission 1 again
  gang.record.ticket = gang.call.ticket =
      gang.call.whose.number + (world.Happened(kWantedAgain) ? kSecondTime : 0);
  gang.record.holders = {};
  gang.record.nodes = {-1, -1};
  gang.disk = gang.record;
  gang.call.stage = Call::Stage::kCalls;
}

void AnswerSubmit(ModelCluster& world, GangState& gang) {
  const Call call = std::exchange(gang.call, {});
  world.claims.OnSubmitted(call.whose, call.id, 1);
  world.rules.OnSubmitted(call.whose, call.id, world.now);
}

void LoseAnswer(ModelCluster& world, GangState& gang, int variant) {
  Call call = std::exchange(gang.call, {});
  if (variant == 1) TakeJob(world, call);
  call.began = world.now;
  if (variant == 2) gang.lost_call = call;
  world.rules.OnNotSubmitted(call.whose, Failure::kNoAnswer, "no answer", world.now);
}

void AnswerList(ModelCluster& world, int q) {
  const Question question = world.questions[static_cast<std::size_t>(q)];
  world.questions.erase(world.questions.begin() + q);
  OurJobs ours = OursOf(*question.seen);
  for (const CancelJobs& others : world.claims.OnListed(!question.id, ours)) Do(world, others);
  world.rules.OnListed(question.id, question.asked, std::move(ours), world.now);
}

void CrashServer(ModelCluster& world, bool with_unsaved) {
  world.rules = Gangs(kInstallation);
  world.claims = {};
  world.questions.clear();
  world.cancels.clear();
  for (Job& job : world.jobs)
    for (Agent& agent : job.agents)
      if (agent.stage == Agent::Stage::kAttached) agent.stage = Agent::Stage::kAway;
  for (GangState& gang : world.gangs) {
    if (!with_unsaved) gang.record = gang.disk;
    if (gang.call.stage == Call::Stage::kCalls) gang.lost_call = gang.call;
    if (gang.lost_call) gang.lost_call->began = world.now;
    gang.call = {};
    gang.grant_is_told = gang.loss_is_told = gang.lost_room = false;
    gang.had_room = gang.record.is_granted;
  }
  const auto gangs = static_cast<int>(world.gangs.size());
  for (int g = 0; g < gangs; ++g)
    if (world.gangs[static_cast<std::size_t>(g)].record.is_wanted) Want(world, g);
  for (int g = 0; g < gangs; ++g) {
    GangState& gang = world.gangs[static_cast<std::size_t>(g)];
    if (gang.is_over) gang.is_forgotten = gang.record.submission == 0;
    if (gang.record.is_wanted || gang.record.submission == 0) continue;
    world.rules.Want({.key = GangKeyOf(g), .slots = gang.slots, .last_submission = gang.record.submission},
                     world.now);
    world.rules.Release(GangKeyOf(g), world.now);
  }
}

void Come(ModelCluster& world, Job& job, int a) {
  Agent& agent = job.agents[static_cast<std::size_t>(a)];
  const Entry entry = TryToEnter(world, job, a, world.claims);
  if (entry == Entry::kWaits) return;
  if (entry == Entry::kIsRefused) return EndAgent(world, job, a);
  GangState& gang = world.Of(job.whose.gang);
  const int slot = SlotOf(a);
  const auto at = static_cast<std::size_t>(slot);
  for (const Job& other : world.jobs) {
    for (int b = 0; b < ModelCluster::kAgentsMax; ++b) {
      const Agent& rival = other.agents[static_cast<std::size_t>(b)];
      const bool is_same = &rival == &agent || SlotOf(b) != slot || other.whose != job.whose;
      if (!is_same && rival.was_in && rival.lives()) world.Break("two agents have one slot");
    }
  }
  gang.record.holders[at] = agent.instance;
  gang.record.nodes[at] = job.nodes[at] < 0 ? gang.record.nodes[at] : job.nodes[at];
  gang.disk = gang.record;
  agent.was_in = true;
  agent.stage = Agent::Stage::kAttached;
  agent.is_late = false;
  world.rules.OnAttached(job.whose, slot, NodeName(gang.record.nodes[at]), world.now);
}

Entry TryToEnter(const ModelCluster& world, const Job& job, int a, Claims& claims) {
  const Agent& agent = job.agents[static_cast<std::size_t>(a)];
  const GangState& gang = world.Of(job.whose.gang);
  const auto slot = static_cast<std::size_t>(SlotOf(a));
  if (gang.record.ticket == 0 || gang.record.ticket != job.ticket) return Entry::kIsRefused;
  const int holder = gang.record.holders[slot];
  if (holder != 0 && holder != agent.instance) return Entry::kIsRefused;
  if (!world.rules.IsCurrent(job.whose)) return Entry::kIsRefused;
  if (holder != 0) return Entry::kIsIn;
  const std::string node = NodeName(job.nodes[slot]);
  Claim claim = claims.ClaimOf(job.whose, node);
  if (const auto id = claims.IdOf(job.whose); claim == Claim::kEarly && id) {
    Question question{.id = id};
    SeeJobs(world, question, -1, false);
    OurJobs ours = OursOf(*question.seen);
    (void)claims.OnListed(false, ours);
    claim = claims.ClaimOf(job.whose, node);
  }
  if (claim == Claim::kEarly) return Entry::kWaits;
  return claim == Claim::kRight ? Entry::kIsIn : Entry::kIsRefused;
}

std::optional<SysTime> NextTime(const ModelCluster& world) {
  std::optional<SysTime> next = world.rules.WakeAt();
  const auto consider = [&next](SysTime time) { next = std::min(next.value_or(time), time); };
  for (const GangState& gang : world.gangs) {
    if (gang.lost_call) consider(gang.lost_call->began + kCallMax);
    if (gang.call.is_late) consider(gang.call.began + kCallMax);
  }
  for (const Question& question : world.questions)
    if (question.is_late) consider(question.asked + kCallMax);
  return next;
}

}  // namespace trainyard::slurm
