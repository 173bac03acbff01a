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

/// Receives from supervisors and the attempt host: stores log lines, acknowledges them, and passes every
/// other frame to the job's runner; dismisses orphans. Loop thread only.
class ReplicaGateway final : public engine::ReplicaLinkObserver {
 public:
  /// All outlive it. Until `attempts_known` is set, an ended attempt has no runner yet, and is ignored.
  ReplicaGateway(Collaborators& outside, RunnerRegistry& registry, Orphans& orphans,
                 const Event& attempts_known);
  ReplicaGateway(const ReplicaGateway&) = delete;
  ReplicaGateway& operator=(const ReplicaGateway&) = delete;

  // engine::ReplicaLinkObserver
  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) override;
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                       engine::FromReplica frame) override;
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override;

  /// Adds the numbers of log lines and bytes that it received.
  void CountInto(Figures& figures) const;

 private:
  /// The state of an attempt's present connection.
  struct Intake {
    const engine::ReplicaLink* link = nullptr;
    bool begun = false;    ///< a chunk was stored: the next one has to follow it
    bool refused = false;  ///< a chunk was not stored: all later ones are dropped and sent again
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
  const Event& attempts_known_;
  Figures counted_;
  std::map<std::string, std::shared_ptr<Intake>> intakes_;  ///< by attempt; only for present connections
  /// Shared with the host's callback, which may outlive this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::control
