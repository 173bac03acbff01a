#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/name_lookup.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/agents_listener.h"
#include "engine/remote/outside_door.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_engine.h"
#include "rules/slurm/engine_options.h"

namespace trainyard::engine {

/// Makes the client that the options choose. An error: the address of slurmrestd is not valid.
[[nodiscard]] Result<std::unique_ptr<SlurmClient>> MakeSlurmClient(const slurm::EngineOptions& options);

/// Checks that Slurm knows what the options name, and returns its nodes. kFailedPrecondition: a mistake in
/// the options. A controller that does not answer now is no error: a warning says so, and the list is empty.
/// Blocks for up to some seconds.
[[nodiscard]] Result<std::vector<slurm::Node>> CheckCluster(const slurm::EngineOptions& options,
                                                            const SlurmClient& client);

/// Runs jobs on the nodes of a Slurm cluster: it has the engine, the attempt host and the listener for
/// agents. Loop thread only, except for Open. docs/slurm.md.
class Cluster {
 public:
  /// Settings and paths of the server that it uses.
  struct Place {
    std::string project;
    bool google_front = false;
    std::vector<std::pair<std::string, std::string>> image_map;
    std::string environments_dir;
    std::string address_file;  ///< records where agents reach the server
    std::string database;      ///< database of the requests to Slurm
  };
  /// Blocking; call it before there are threads. Null: the options name no cluster. Errors: those that the
  /// operator has to fix (an unknown partition, no address), and those of the database.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> Open(boost::asio::io_context& loop,
                                                             const slurm::EngineOptions& options,
                                                             const Place& place, const Clock& clock,
                                                             const tls::TlsIdentity& identity);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] SlurmEngine& engine() noexcept { return *engine_; }
  [[nodiscard]] AttemptHost& host() noexcept { return host_; }
  /// The targets for builds that the operator had named when the server began.
  [[nodiscard]] const NamedTargets& named_targets() const noexcept { return named_targets_; }

  /// Looks up the names that builds ask for.
  [[nodiscard]] NameLookup& names() noexcept { return names_; }

  /// Starts accepting agents and asking Slurm. Call it once the jobs of a previous server have requested
  /// their resources again. Connections that agents relay are passed to `relay` until Close. Agents'
  /// connections count in the budget, which outlives it.
  using Relay = std::function<void(RelayedConnection, std::shared_ptr<mux::Stream>)>;
  [[nodiscard]] Status Start(Relay relay, http::ConnectionBudget& connections);
  /// Accepts no more agents and closes the connections of the others, which live on.
  void Stop() {
    if (listener_) listener_->Stop();
  }
  /// Call it after Stop, when the loop does not run.
  void Close() { listener_.reset(); }

 private:
  Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
          AgentProgram program);

  boost::asio::io_context& loop_;
  tls::TlsIdentity identity_;
  AgentsAddress address_;
  AgentProgram program_;
  NamedTargets named_targets_;
  NameLookup names_;
  RemoteAttemptHost host_;
  std::unique_ptr<SlurmEngine> engine_;  ///< never null after Open
  std::optional<AgentDesk> desk_;        ///< never empty after Open
  std::unique_ptr<AgentsListener> listener_;
};

}  // namespace trainyard::engine
