#include "rules/slurm/reason.h"

#include <array>
#include <string>

namespace trainyard::slurm {

namespace {

/// How a row's code is found in a reason.
enum class Match { kWhole, kBegin, kPart };

struct Row {
  std::string_view code;
  Match match;
  std::string_view reason;  ///< "%P": the partition; "%R": Slurm's own words
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

}  // namespace trainyard::slurm
