#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/tls/tls_identity.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/agents_address.h"
#include "engine/remote/agents_listener.h"
#include "engine/remote/named_targets.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slurm_engine.h"
#include "rules/slurm/engine_options.h"

namespace trainyard::engine {

/// The nodes of a Slurm cluster as a place for jobs: room, attempts and the agents' door. Loop thread only,
/// but Open. docs/slurm.md.
class Cluster {
 public:
  /// What it has of the server's own.
  struct Place {
    std::string project;
    bool google_front = false;
    std::vector<std::pair<std::string, std::string>> image_map;
    std::string environments_dir;
    std::string address_file;  ///< where agents reached the previous server
    std::string database;      ///< of what Slurm was asked
  };
  /// Blocking, before there are threads. Null: the options want none. Errors: what the operator has to mend
  /// (an unknown partition, no address), the database's.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> Open(boost::asio::io_context& loop,
                                                             const slurm::EngineOptions& options,
                                                             const Place& place, const Clock& clock,
                                                             const tls::TlsIdentity& identity);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] SlurmEngine& engine() noexcept { return *engine_; }
  [[nodiscard]] AttemptHost& host() noexcept { return host_; }
  /// What the operator has named for builds when the server began.
  [[nodiscard]] const NamedTargets& named_targets() const noexcept { return named_targets_; }

  /// Once the jobs of a previous server have asked for their room: agents may come, Slurm is asked. What
  /// agents relay goes to `relay` until Close. Agents' connections count in the budget, which outlives it.
  using Relay = std::function<void(RelayedConnection, std::shared_ptr<mux::Stream>)>;
  [[nodiscard]] Status Start(Relay relay, http::ConnectionBudget& connections);
  /// No agent connects any more, and those that are there are let go: they live on.
  void Stop() {
    if (listener_) listener_->Stop();
  }
  /// After Stop, when the loop does not run.
  void Close() { listener_.reset(); }

 private:
  Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
          AgentProgram program);

  boost::asio::io_context& loop_;
  tls::TlsIdentity identity_;
  AgentsAddress address_;
  AgentProgram program_;
  NamedTargets named_targets_;
  RemoteAttemptHost host_;
  std::unique_ptr<SlurmEngine> engine_;  ///< never null once it is open
  std::optional<AgentDesk> desk_;        ///< the same
  std::unique_ptr<AgentsListener> listener_;
};

}  // namespace trainyard::engine
