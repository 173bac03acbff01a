#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "control/collaborators.h"
#include "control/figures.h"
#include "control/orphans.h"
#include "control/runner_registry.h"
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
  void OnGone(const std::string& attempt_id);

  Collaborators& outside_;
  RunnerRegistry& registry_;
  Orphans& orphans_;
  const Event& recovered_;
  Figures counted_;
  /// Shared with the host's callback, which may outlive this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::control
