#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/name_lookup.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/tls/tls_identity.h"
#include "engine/engine_options.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/agents_listener.h"
#include "engine/remote/cluster_engine.h"
#include "engine/remote/outside_door.h"
#include "engine/remote/remote_attempt_host.h"

namespace trainyard::engine {

/// The clusters on which jobs run: an engine for each, and for all of them one attempt host and one listener
/// for agents. Loop thread only, except for Open. docs/slurm.md, docs/kubernetes.md.
class Clusters final : private SlotKeeper {
 public:
  /// Settings and paths of the server that they use.
  struct Place {
    std::string project;
    bool google_front = false;
    std::vector<std::pair<std::string, std::string>> image_map;
    std::string environments_dir;
    std::string address_file;         ///< records where agents reach the server
    std::string slurm_database;       ///< of the requests to Slurm
    std::string kubernetes_database;  ///< of the requests to Kubernetes
  };
  /// By the engine's name in quotas.
  using Engines = std::map<std::string_view, std::unique_ptr<ClusterEngine>>;

  /// Blocking; call it before there are threads. Null: the options name no cluster. Errors: those that the
  /// operator has to fix (an unknown partition, no address, a missing right), and those of the databases.
  [[nodiscard]] static Result<std::unique_ptr<Clusters>> Open(boost::asio::io_context& loop,
                                                              const EngineOptions& options,
                                                              const Place& place, const Clock& clock,
                                                              const tls::TlsIdentity& identity);
  /// Asks the clusters whether their settings are correct. Blocking; errors as Open.
  [[nodiscard]] static Status Check(const EngineOptions& options);
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  [[nodiscard]] const Engines& engines() const noexcept { return engines_; }
  [[nodiscard]] AttemptHost& host() noexcept { return host_; }
  /// The targets for builds that the operator had named when the server began.
  [[nodiscard]] const NamedTargets& named_targets() const noexcept { return named_targets_; }

  /// Looks up the names that builds ask for.
  [[nodiscard]] NameLookup& names() noexcept { return names_; }

  /// Starts accepting agents and asking the clusters. Call it once the jobs of a previous server have
  /// requested their resources again. Connections that agents relay are passed to `relay` until Close.
  /// Agents' connections count in the budget, which outlives it.
  using Relay = std::function<void(RelayedConnection, std::shared_ptr<mux::Stream>)>;
  [[nodiscard]] Status Start(Relay relay, http::ConnectionBudget& connections);
  /// Accepts no more agents and closes the connections of the others, which live on.
  void Stop() {
    if (listener_) listener_->Stop();
  }
  /// Call it after Stop, when the loop does not run.
  void Close() { listener_.reset(); }

 private:
  Clusters(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
           AgentProgram program);
  /// The engine of an agent by its name; null: there is none.
  [[nodiscard]] ClusterEngine* Of(const std::string& agent) const;

  // SlotKeeper: the engine that knows the ticket, or the agent.
  boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                       AgentOrigin origin) override;
  void OnAttached(const std::string& agent) override;
  void OnDetached(const std::string& agent, mux::Ending ending) override;
  void OnTimeLimit(const std::string& agent) override;
  [[nodiscard]] bool MayLive(const std::string& agent) const override;
  void OnUnheard(const std::string& agent);

  boost::asio::io_context& loop_;
  tls::TlsIdentity identity_;
  AgentsAddress address_;
  AgentProgram program_;
  NamedTargets named_targets_;
  NameLookup names_;
  RemoteAttemptHost host_;
  Engines engines_;                ///< at least one after Open
  std::optional<AgentDesk> desk_;  ///< never empty after Open
  std::unique_ptr<AgentsListener> listener_;
};

}  // namespace trainyard::engine
