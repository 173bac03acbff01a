#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "rules/slurm/job_name.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// The agent that has a slot.
struct SlotHolder {
  std::string instance_sha256;  ///< of what it calls itself
  agent::v1::Node node;
};

/// What was handed to Slurm for a gang last, and who came of it.
struct Submitted {
  slurm::Submission submission;
  std::string ticket_sha256;  ///< empty: void
  std::vector<int> replicas;  ///< by slot: the position in the gang
  std::map<int, SlotHolder> holders{};
};

/// DATA/engines.db: what the next server must know of the cluster, written down before it is done. Blocking;
/// one thread at a time. Errors: as sqlite::SqliteError.
class SlurmBook {
 public:
  [[nodiscard]] static Result<SlurmBook> Open(const std::string& path);

  /// How jobs of this data directory are named in Slurm: random, chosen once. A copy of the directory has to
  /// have another: the file is in no backup.
  [[nodiscard]] Result<std::string> Installation();
  [[nodiscard]] Result<std::vector<Submitted>> Load();

  /// What `work` writes is durable as a whole when this returns, or nothing of it is there. It has to be the
  /// only way to write.
  [[nodiscard]] Status Together(const std::function<Status()>& work);

  /// Replaces what is known of the gang.
  [[nodiscard]] Status Put(const Submitted& submitted);
  [[nodiscard]] Status PutHolder(const slurm::Submission& submission, int slot, const SlotHolder& holder);
  [[nodiscard]] Status VoidTicket(const slurm::Submission& submission);
  [[nodiscard]] Status Drop(const slurm::GangKey& gang);

 private:
  explicit SlurmBook(sqlite::Database database) : database_(std::move(database)) {}

  sqlite::Database database_;
  std::vector<sqlite::Statement> statements_;
};

}  // namespace trainyard::engine
