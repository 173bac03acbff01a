#include "rules/slurm/gang.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "rules/slurm/node_list.h"

namespace trainyard::slurm {

namespace {

/// How a row's code is compared with a reason.
enum class Match { kWhole, kBegin, kPart };

struct Row {
  std::string_view code;
  Match match;
  std::string_view reason;  ///< "%P": the partition; "%R": Slurm's reason
  std::string_view unblock;
  bool never = false;
};

// The first row that matches counts.
constexpr std::array kRows{
    Row{"None", Match::kWhole, "Slurm has not looked at it yet.", "It starts when there is room."},
    Row{"Priority", Match::kWhole, "Other jobs of the cluster are before it in the line.",
        "It starts when they have started and there is room."},
    Row{"Resources", Match::kWhole, "The nodes that it needs are busy with other jobs.",
        "It starts when enough of them have ended; a smaller machine type may start earlier."},
    Row{"DependencyNeverSatisfied", Match::kWhole, "It depends on a job of Slurm that has failed.",
        "Remove the dependency from the engine's options.", true},
    Row{"Dependency", Match::kWhole, "It waits for another job of Slurm.",
        "It starts when that job has ended."},
    Row{"BeginTime", Match::kWhole, "Slurm starts it at a later time.",
        "After a node was lost this takes up to two minutes."},
    Row{"PartitionNodeLimit", Match::kWhole, "It needs more nodes than %P lets one job have.",
        "Ask for fewer replicas.", true},
    Row{"PartitionTimeLimit", Match::kWhole, "It may run for longer than %P lets a job run.",
        "Ask for a shorter maxRunningTime.", true},
    Row{"PartitionConfig", Match::kWhole, "%P cannot hold it as it is.",
        "Ask for fewer replicas or smaller machine types.", true},
    Row{"MaxMemPerLimit", Match::kWhole, "It asks for more memory than %P lets a job have.",
        "Use machine types with less memory.", true},
    Row{"PartitionDown", Match::kWhole, "The cluster's administrator has closed %P.",
        "It starts once it is open again."},
    Row{"PartitionInactive", Match::kWhole, "The cluster's administrator has closed %P.",
        "It starts once it is open again."},
    Row{"ReqNodeNotAvail", Match::kBegin, "Nodes that it needs are broken or reserved (%R).",
        "It starts once they are back; the cluster's administrator can say when."},
    Row{"Nodes required for job are DOWN", Match::kBegin, "Nodes that it needs are broken or reserved (%R).",
        "It starts once they are back; the cluster's administrator can say when."},
    Row{"NodeDown", Match::kWhole, "A node that it should get is broken.", "Slurm looks for another one."},
    Row{"ReservationDeleted", Match::kWhole, "The reservation that it should use is gone.",
        "Change the engine's options.", true},
    Row{"Reservation", Match::kWhole, "The nodes are reserved for maintenance.",
        "It starts afterwards; with a shorter maxRunningTime perhaps before."},
    Row{"JobHeldUser", Match::kWhole, "It is held in Slurm.", "It starts after scontrol release."},
    Row{"JobHeldAdmin", Match::kWhole, "The cluster's administrator holds it.",
        "The administrator has to release it."},
    Row{"launch failed requeued held", Match::kWhole, "Slurm could not launch it, and holds it.",
        "It starts after scontrol release."},
    Row{"job requeued in held state", Match::kWhole, "It is held in Slurm.",
        "It starts after scontrol release."},
    Row{"Licenses", Match::kWhole, "A licence that it needs is in use.", "It starts when one is free."},
    Row{"BurstBuffer", Match::kBegin, "Storage that it needs is in use.", "It starts when some is free."},
    Row{"QOSMaxJobsPerUserLimit", Match::kWhole, "As many jobs of the server's account run as may run.",
        "It starts when one of them has ended."},
    Row{"AssocMaxJobsLimit", Match::kWhole, "As many jobs of the server's account run as may run.",
        "It starts when one of them has ended."},
    Row{"PerJob", Match::kPart, "It asks for more than the cluster's policy lets one job have (%R).",
        "Ask for fewer replicas, smaller machine types or a shorter maxRunningTime.", true},
    Row{"QOSMaxWall", Match::kBegin, "It may run for longer than the cluster's policy allows (%R).",
        "Ask for a shorter maxRunningTime.", true},
    Row{"AssocMaxWall", Match::kBegin, "It may run for longer than the cluster's policy allows (%R).",
        "Ask for a shorter maxRunningTime.", true},
    Row{"QOSMax", Match::kBegin, "The quota of the server's account in Slurm is used up (%R).",
        "It starts when others of its jobs have ended."},
    Row{"QOSGrp", Match::kBegin, "The quota of the server's group in Slurm is used up (%R).",
        "It starts when others of the group's jobs have ended."},
    Row{"AssocGrp", Match::kBegin, "The quota of the server's group in Slurm is used up (%R).",
        "It starts when others of the group's jobs have ended."},
    Row{"AssocMax", Match::kBegin, "The quota of the server's account in Slurm is used up (%R).",
        "It starts when others of its jobs have ended."},
    Row{"BadConstraints", Match::kWhole, "No node has what the engine's options ask for.",
        "Change constraint in the engine's options.", true},
    Row{"InvalidAccount", Match::kWhole, "Slurm does not know the account of the engine's options.",
        "Change account in the engine's options.", true},
    Row{"InvalidQOS", Match::kWhole, "Slurm does not know the QOS of the engine's options.",
        "Change qos in the engine's options.", true},
    Row{"NotAllowed", Match::kPart, "The server's account may not use what it asks for (%R).",
        "Change the engine's options, or ask the cluster's administrator.", true},
    Row{"DeadLine", Match::kWhole, "It cannot end before its deadline any more.",
        "Ask for a longer maxWaitTime.", true},
    Row{"Prolog", Match::kWhole, "Its nodes are being prepared.", "It starts in a moment."},
    Row{"Cleaning", Match::kWhole, "Its nodes are being cleaned up.", "It starts in a moment."},
};

bool Matches(const Row& row, std::string_view reason) {
  switch (row.match) {
    case Match::kWhole: return reason.substr(0, reason.find(',')) == row.code;
    case Match::kBegin: return reason.starts_with(row.code);
    case Match::kPart: return reason.contains(row.code);
  }
  return false;
}

std::string Filled(std::string_view text, std::string_view reason, std::string_view partition) {
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      filled += text[i];
      continue;
    }
    ++i;
    if (text[i] == 'R') filled += reason;
    if (text[i] == 'P')
      filled +=
          partition.empty() ? "the default partition" : "the partition '" + std::string(partition) + "'";
  }
  if (filled.starts_with("the ")) filled.front() = 'T';
  return filled;
}

using Found = std::span<const ListedJob>;

bool HasOneEnded(Found found) {
  return std::ranges::any_of(found, [](const ListedJob& job) { return HasEnded(job.state); });
}

/// The component that tells how the job ended: the one that did not just end because the others were
/// cancelled.
const ListedJob* Telling(Found found) {
  const ListedJob* telling = nullptr;
  for (const ListedJob& job : found) {
    if (job.state == JobState::kEnding || !HasEnded(job.state)) continue;
    const bool says_more =
        telling == nullptr || IsCancelled(telling->state) || telling->state == JobState::kOver;
    if (says_more) telling = &job;
  }
  return telling;
}

std::string JobOfSlurm(const ListedJob& job) { return "The job " + std::to_string(job.id) + " of Slurm"; }

std::string OnNodes(const ListedJob& job) { return job.nodes.empty() ? "" : " (" + job.nodes + ")"; }

struct End {
  placement::RoomEnd kind;
  std::string reason;
};

End AtTimeLimit(const ListedJob& job) {
  return {placement::RoomEnd::kTimeLimit, JobOfSlurm(job) + " has reached its time limit."};
}

/// The end of the job according to Slurm.
End EndOf(const ListedJob& job) {
  const std::string name = JobOfSlurm(job);
  switch (job.state) {
    case JobState::kCancelledAtStart:
    case JobState::kCancelled: return {placement::RoomEnd::kCancelled, name + " was cancelled in Slurm."};
    case JobState::kForgotten:
      return {placement::RoomEnd::kLost,
              name + " was cancelled by Slurm itself, whose controller started again and had forgotten it."};
    case JobState::kTimeLimit: return AtTimeLimit(job);
    case JobState::kDeadline:
      return {placement::RoomEnd::kDeadline, name + " could not end before its deadline any more."};
    case JobState::kNodeLost:
      return {placement::RoomEnd::kLost, name + " has lost a node" + OnNodes(job) + "."};
    case JobState::kPreempted:
      return {placement::RoomEnd::kPreempted, name + " had to make room for a more important one."};
    case JobState::kOutOfMemory:
      return {placement::RoomEnd::kOutOfMemory, name + " used more memory than it asked for."};
    case JobState::kPending:
    case JobState::kRunning:
    case JobState::kSuspended:
    case JobState::kEnding:
    case JobState::kOver: break;
  }
  return {placement::RoomEnd::kLost,
          name + " has ended before its work was done (" + job.state_text +
              (job.reason.empty() || job.reason == "None" ? "" : ", " + job.reason) + ")."};
}

Verdict JudgeMissing(SlurmGang& gang, const Sight& sight) {
  if (!gang.missing) gang.missing = std::max(sight.asked, sight.answering_since);
  if (sight.asked < *gang.missing + kSettle) return LookSoon{};
  const std::string reason = "Slurm has lost the job.";
  if (gang.stage == GangStage::kGranted) return LosesRoom{.reason = reason};
  return Resubmit{.words = {.reason = reason, .unblock = "It is submitted again."}, .at_once = true};
}

Verdict JudgeEnded(const SlurmGang& gang, ListedJob job) {
  if (job.state == JobState::kCancelledAtStart && gang.stage != GangStage::kGranted)
    job.state = JobState::kForgotten;
  // If the agents were told about the limit in time, they ended before it and the job is COMPLETED.
  End end = gang.at_time_limit && job.state == JobState::kOver ? AtTimeLimit(job) : EndOf(job);
  const bool is_for_the_job =
      end.kind == placement::RoomEnd::kCancelled || end.kind == placement::RoomEnd::kDeadline;
  if (gang.stage == GangStage::kGranted || is_for_the_job)
    return LosesRoom{.kind = end.kind, .reason = std::move(end.reason)};
  return Resubmit{.words = {.reason = std::move(end.reason), .unblock = "It is submitted again."}};
}

/// Judges a job that runs according to Slurm while its agents have not all connected, or had not when the
/// list was requested.
Verdict JudgeStarting(const SlurmGang& gang, const Sight& sight) {
  if (gang.complete && sight.asked >= *gang.complete) return HasRoom{};
  const std::string nodes = OnNodes(sight.found.front());
  if (sight.now < *gang.running + kAttachMax) {
    return KeepWaiting{{.reason = "Slurm has given it nodes" + nodes + ", and its agents start there.",
                        .unblock = "It starts in a moment."}};
  }
  return Resubmit{
      .words = {
          .reason = "The job started in Slurm, and " + std::to_string(gang.attached.size()) + " of " +
                    std::to_string(gang.slots) + " agents reached the server" + nodes + ".",
          .unblock = "The nodes have to reach the address of --agent-listen (docs/slurm.md, firewall)."}};
}

/// A node that Slurm has removed from a job that continues. It is lost, and there may be no other sign of it
/// (a network failure does not close connections).
const std::string* LostNode(const SlurmGang& gang, const Sight& sight) {
  const auto is_named = [&sight](const std::string& node) {
    return std::ranges::any_of(sight.found, [&node](const ListedJob& job) {
      return job.nodes.empty() || NamesNode(job.nodes, node);
    });
  };
  for (const auto& [slot, node] : gang.attached)
    if (!is_named(node)) return &node;
  return nullptr;
}

Verdict JudgeGranted(const SlurmGang& gang, const Sight& sight) {
  if (const std::string* lost = LostNode(gang, sight))
    return LosesRoom{.reason = JobOfSlurm(sight.found.front()) + " has lost a node (" + *lost + ")."};
  for (const auto& [slot, since] : gang.closed) {
    if (sight.asked < since || sight.now < since + kAgentAbsenceMax) continue;
    if (gang.at_time_limit) {
      End end = AtTimeLimit(sight.found.front());
      return LosesRoom{.kind = end.kind, .reason = std::move(end.reason)};
    }
    return LosesRoom{.reason = "The agent of slot " + std::to_string(slot) + " of the job is gone" +
                               OnNodes(sight.found.front()) + "."};
  }
  return {};
}

Verdict JudgeLiving(SlurmGang& gang, const Sight& sight) {
  const auto pending = std::ranges::find(sight.found, JobState::kPending, &ListedJob::state);
  if (pending != sight.found.end()) {
    gang.running.reset();
    if (gang.stage != GangStage::kThere) return {};
    return KeepWaiting{.words = MeaningOf(pending->reason, gang.partition), .because = pending->reason};
  }
  if (!gang.running) gang.running = sight.now;
  return gang.stage == GangStage::kGranted ? JudgeGranted(gang, sight) : JudgeStarting(gang, sight);
}

}  // namespace

placement::Shortage MeaningOf(std::string_view reason, std::string_view partition) {
  for (const Row& row : kRows) {
    if (!Matches(row, reason)) continue;
    return {.reason = Filled(row.reason, reason, partition),
            .unblock = std::string(row.unblock),
            .never = row.never};
  }
  return {.reason = "Slurm says why it waits: " + std::string(reason) + ".",
          .unblock = "squeue(1) has the meaning, under JOB REASON CODES."};
}

bool NoteAgent(SlurmGang& gang, int slot, const std::string& node, SysTime now) {
  gang.closed.erase(slot);
  gang.attached.insert_or_assign(slot, node);
  if (std::ssize(gang.attached) < gang.slots || gang.complete) return false;
  gang.complete = now;
  return true;
}

void ForgetAgents(SlurmGang& gang) {
  gang.attached.clear();
  gang.closed.clear();
  gang.at_time_limit = false;
  gang.complete.reset();
  gang.running.reset();
}

bool IsNothingNew(const SlurmGang& gang, std::span<const ListedJob> found) {
  if (gang.stage != GangStage::kThere || gang.complete || gang.running || gang.missing || found.size() != 1)
    return false;
  const ListedJob& job = found.front();
  return job.state == JobState::kPending && !job.reason.empty() && job.reason == gang.waits_because &&
         gang.ids.size() == 1 && gang.ids.front() == job.id;
}

Verdict Judge(SlurmGang& gang, const Sight& sight) {
  if (gang.stage == GangStage::kUncertain) {  // and not found
    if (sight.asked < std::max(gang.since, sight.answering_since) + kSettle) return {};
    return Resubmit{
        .words = {.reason = "Slurm did not take the job at first.", .unblock = "It is submitted again."}};
  }
  if (sight.found.empty()) return JudgeMissing(gang, sight);
  gang.missing.reset();
  if (const ListedJob* telling = Telling(sight.found)) return JudgeEnded(gang, *telling);
  if (HasOneEnded(sight.found)) return LookSoon{};  // the next list will tell how it ended
  return JudgeLiving(gang, sight);
}

}  // namespace trainyard::slurm
