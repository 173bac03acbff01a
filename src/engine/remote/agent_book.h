#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "rules/placement/submission.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// The agent that has a slot.
struct SlotHolder {
  std::string instance_sha256;  ///< the hash of the agent's instance name
  agent::v1::Node node;
};

/// A gang's last submission to Slurm, and the agents that took its slots.
struct SubmissionRecord {
  placement::Submission submission;
  std::string ticket_sha256;  ///< empty: void
  std::vector<int> replicas;  ///< by slot: the position in the gang
  std::map<int, SlotHolder> holders{};
  std::set<std::int64_t> cancelled{};  ///< Slurm's ids that a server has cancelled, or was about to
};

/// DATA/engines.db: what the next server must know about the cluster, written before the corresponding
/// action. Blocking; one thread at a time. Errors: as sqlite::SqliteError.
class AgentBook {
 public:
  [[nodiscard]] static Result<AgentBook> Open(const std::string& path);

  /// The name of this data directory's jobs in Slurm: random, chosen once. Since a copy of the directory
  /// needs another name, backups do not contain this file.
  [[nodiscard]] Result<std::string> Installation();
  [[nodiscard]] Result<std::vector<SubmissionRecord>> Load();

  /// Runs `work` in one transaction: when this returns, all that it has written is durable, or none of it.
  /// All writes must be made in it.
  [[nodiscard]] Status Together(const std::function<Status()>& work);

  /// Replaces what is recorded about the gang.
  [[nodiscard]] Status Put(const SubmissionRecord& submitted);
  [[nodiscard]] Status PutHolder(const placement::Submission& submission, int slot, const SlotHolder& holder);
  /// A server is about to cancel the id. Does nothing if the gang has no submission.
  [[nodiscard]] Status PutCancel(const placement::GangKey& gang, std::int64_t id);
  [[nodiscard]] Status VoidTicket(const placement::Submission& submission);
  [[nodiscard]] Status Drop(const placement::GangKey& gang);

 private:
  explicit AgentBook(sqlite::Database database) : database_(std::move(database)) {}

  sqlite::Database database_;
  std::vector<sqlite::Statement> statements_;
};

}  // namespace trainyard::engine
