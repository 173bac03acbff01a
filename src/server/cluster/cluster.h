#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/tls/tls_identity.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/agents_listener.h"
#include "engine/remote/named_targets.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slurm_engine.h"
#include "server/cluster/agents_address.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// The nodes of a Slurm cluster as a place for jobs: room, attempts and the agents' door. Loop thread only,
/// but Open. docs/slurm.md.
class Cluster {
 public:
  /// Blocking, before there are threads. Null: the options want none. Errors: what the operator has to mend
  /// (an unknown partition, no address), the database's.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> Open(boost::asio::io_context& loop,
                                                             const ServeOptions& options,
                                                             const store::DataDirectory& data,
                                                             const Clock& clock,
                                                             const tls::TlsIdentity& identity);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] engine::SlurmEngine& engine() noexcept { return *engine_; }
  [[nodiscard]] engine::AttemptHost& host() noexcept { return host_; }
  /// What the operator has named for builds when the server began.
  [[nodiscard]] const engine::NamedTargets& named_targets() const noexcept { return named_targets_; }

  /// Once the jobs of a previous server have asked for their room: agents may come, Slurm is asked. What
  /// agents relay goes to `relay` until Close. Agents' connections count in the budget, which outlives it.
  using Relay = std::function<void(engine::RelayedConnection, std::shared_ptr<mux::Stream>)>;
  [[nodiscard]] Status Start(Relay relay, http::ConnectionBudget& connections);
  /// No agent connects any more, and those that are there are let go: they live on.
  void Stop() {
    if (listener_) listener_->Stop();
  }
  /// After Stop, when the loop does not run.
  void Close() { listener_.reset(); }

 private:
  Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
          engine::AgentProgram program);

  boost::asio::io_context& loop_;
  tls::TlsIdentity identity_;
  AgentsAddress address_;
  engine::AgentProgram program_;
  engine::NamedTargets named_targets_;
  engine::RemoteAttemptHost host_;
  std::unique_ptr<engine::SlurmEngine> engine_;  ///< never null once it is open
  std::optional<engine::AgentDesk> desk_;        ///< the same
  std::unique_ptr<engine::AgentsListener> listener_;
};

}  // namespace trainyard::server
