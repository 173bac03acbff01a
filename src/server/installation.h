#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/metadata/metadata_handlers.h"
#include "net/http/router.h"
#include "server/bound_sockets.h"
#include "server/callers.h"
#include "server/doors.h"
#include "server/engines.h"
#include "server/foundation.h"
#include "server/job_loop.h"
#include "server/options/serve_options.h"
#include "server/stores.h"
#include "server/upkeep.h"

namespace trainyard::api {
struct MetricsSources;
}  // namespace trainyard::api

namespace trainyard::server {

struct ApiParts;

/// All parts of a server except its sockets: the stores of its data directory, the jobs on them, and the
/// routers of its API. Each part is built on the parts before it. Created before the loop runs; after that
/// loop thread only.
class Installation {
 public:
  /// Blocking. Errors: those of the data directory and its databases. `loop` and `options` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Installation>> Open(boost::asio::io_context& loop,
                                                                  const ServeOptions& options,
                                                                  store::DataDirectory data,
                                                                  const BoundSockets& sockets,
                                                                  const engine::MachineLimits& limits);
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

  [[nodiscard]] const Clock& clock() const noexcept { return base_->clock; }
  [[nodiscard]] const store::DataDirectory& data() const noexcept { return base_->data; }
  [[nodiscard]] control::JobService& jobs() noexcept { return loop_->jobs; }
  [[nodiscard]] studies::StudyService& studies() noexcept { return *stores_.studies; }
  [[nodiscard]] storage::Buckets& buckets() noexcept { return *stores_.buckets; }
  [[nodiscard]] identity::Identities& identities() noexcept { return *stores_.identities; }
  /// The access checks by purpose of a socket; null if authentication is off. They live as long as the
  /// installation.
  [[nodiscard]] access::Door* administration_door() noexcept {
    return doors_ ? &doors_->administration() : nullptr;
  }
  [[nodiscard]] access::Door* replica_door() noexcept { return doors_ ? &doors_->replicas() : nullptr; }
  /// The routes by purpose of a socket: routes.h.
  [[nodiscard]] const http::Router& administration_routes() const noexcept { return administration_routes_; }
  [[nodiscard]] const http::Router& replica_routes() const noexcept { return replica_routes_; }
  [[nodiscard]] const http::Router& supervisor_routes() const noexcept { return supervisor_routes_; }
  [[nodiscard]] const sockets::Gates& gates() const noexcept { return callers_->gates; }
  [[nodiscard]] const control::Settings& settings() const noexcept { return base_->settings; }
  /// What a JWT may name as its audience (stores/identity/jwt_rules.h).
  [[nodiscard]] const std::vector<std::string>& own_urls() const noexcept { return base_->own_urls; }
  [[nodiscard]] control::TokenService& tokens() noexcept { return loop_->tokens; }
  /// The metadata server's answers to clients that are not replicas, under the port's own names or Google's:
  /// tokens of the administration, no machine. `universe`: see MetadataAnswers. They live as long as the
  /// installation.
  [[nodiscard]] api::MetadataAnswers MetadataForUsers(std::function<std::string()> universe);
  /// The same for programs in replicas; each gets the answers for its own replica.
  [[nodiscard]] api::MetadataAnswers MetadataForReplicas(std::function<std::string()> universe);
  [[nodiscard]] http::RequestCounts& request_counts() noexcept { return callers_->request_counts; }
  /// The budget for connections of all clients, shared by all of this process's servers except the
  /// supervisors'.
  [[nodiscard]] http::ConnectionBudget& connections() noexcept { return base_->connections; }
  [[nodiscard]] api::Operations& operations() noexcept { return upkeep_->operations; }
  /// Null: jobs run on this machine alone.
  [[nodiscard]] engine::Cluster* cluster() noexcept { return engines_->cluster(); }
  /// The sources for the metrics listener.
  [[nodiscard]] api::MetricsSources Metrics();
  [[nodiscard]] LoopWatch& watch() noexcept { return base_->watch; }

 private:
  Installation(std::unique_ptr<Foundation> base, Stores stores, const BoundSockets& sockets);
  [[nodiscard]] ApiParts PartsFor(api::MetadataAnswers metadata);
  void AddRoutes();
  void GuardRoutes();

  std::unique_ptr<Foundation> base_;
  Stores stores_;
  const std::uint16_t tls_port_;
  std::unique_ptr<Engines> engines_;  ///< from here on the parts are never null after Open
  std::unique_ptr<JobLoop> loop_;
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<Upkeep> upkeep_;
  std::optional<Doors> doors_;
  http::Router administration_routes_;
  http::Router replica_routes_;
  http::Router supervisor_routes_;
};

}  // namespace trainyard::server
