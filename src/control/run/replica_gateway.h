#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>

#include "control/collaborators.h"
#include "control/run/orphans.h"
#include "control/run/runner_registry.h"
#include "control/upkeep/figures.h"
#include "engine/replica_link.h"

namespace trainyard::control {

/// Where supervisors and the attempt host are heard: stores log lines, acknowledges them, and hands every
/// other frame to the job's runner; orphans are dismissed. Loop thread only.
class ReplicaGateway final : public engine::ReplicaLinkObserver {
 public:
  /// All outlive it. Until `recovered` an attempt that ended has no runner yet, and is left alone.
  ReplicaGateway(Collaborators& outside, RunnerRegistry& registry, Orphans& orphans, const Event& recovered);
  ReplicaGateway(const ReplicaGateway&) = delete;
  ReplicaGateway& operator=(const ReplicaGateway&) = delete;

  // engine::ReplicaLinkObserver
  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) override;
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                       engine::FromReplica frame) override;
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override;

  /// Adds the log lines and bytes that it took.
  void CountInto(Figures& figures) const;

 private:
  /// What has come over the present connection of an attempt.
  struct Intake {
    const engine::ReplicaLink* link = nullptr;
    bool begun = false;    ///< a chunk was stored: the next one has to follow it
    bool refused = false;  ///< something was not stored: nothing behind it is taken, it all comes again
    std::int64_t next_line = 0;
  };
  boost::asio::awaitable<void> TakeLines(std::shared_ptr<engine::ReplicaLink> link,
                                         std::shared_ptr<Intake> intake, logs::LogSource source,
                                         replica::v1::LogChunk chunk);
  boost::asio::awaitable<void> TakeExit(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                        engine::FromReplica frame);
  void CountLines(const logs::LogSource& source, const replica::v1::LogChunk& chunk);
  void OnGone(const std::string& attempt_id);

  Collaborators& outside_;
  RunnerRegistry& registry_;
  Orphans& orphans_;
  const Event& recovered_;
  Figures counted_;
  std::map<std::string, std::shared_ptr<Intake>> intakes_;  ///< by attempt; of a connection that is there
  /// Shared with the host's callback, which may outlive this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::control
