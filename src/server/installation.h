#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/iam/asking_attempts.h"
#include "api/metadata/metadata_handlers.h"
#include "api/own/extension_handlers.h"
#include "api/own/machine_handlers.h"
#include "api/own/metrics_handlers.h"
#include "control/curves/job_curves.h"
#include "control/intake/request_quota.h"
#include "control/job_service.h"
#include "control/run/token_service.h"
#include "control/upkeep/disk_watch.h"
#include "control/upkeep/machine_watch.h"
#include "control/upkeep/sweeper.h"
#include "control/upkeep/use_keeper.h"
#include "engine/admissions.h"
#include "engine/local/container_probe.h"
#include "engine/local/container_upkeep.h"
#include "engine/local/local_attempt_host.h"
#include "engine/local/local_engine.h"
#include "engine/local/machine_limits.h"
#include "engine/local/supervisor_starter.h"
#include "engine/slurm/cluster.h"
#include "net/http/router.h"
#include "net/http/server_options.h"
#include "programs/environment/python_probe.h"
#include "server/bound_sockets.h"
#include "server/doors.h"
#include "server/foundation.h"
#include "server/gates.h"
#include "server/operations.h"
#include "server/options/serve_options.h"
#include "server/stores.h"
#include "stores/store/data_directory.h"
#include "stores/store/journal.h"

namespace trainyard::api {
struct MetricsSources;
}  // namespace trainyard::api

namespace trainyard::server {

struct ApiParts;

/// Everything of a server but its sockets: the stores of its data directory, the jobs on them, and the
/// routers of its API. Made before the loop runs; after that loop thread only. The members are in the order
/// in which they need each other.
class Installation {
 public:
  /// Blocking. Errors: what is wrong with the data directory or its databases. `loop` and `options` outlive
  /// it.
  [[nodiscard]] static Result<std::unique_ptr<Installation>> Open(boost::asio::io_context& loop,
                                                                  const ServeOptions& options,
                                                                  store::DataDirectory data,
                                                                  const BoundSockets& sockets,
                                                                  const engine::MachineLimits& limits);
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

  [[nodiscard]] const Clock& clock() const noexcept { return foundation_->clock; }
  [[nodiscard]] const store::DataDirectory& data() const noexcept { return data_; }
  [[nodiscard]] control::JobService& jobs() noexcept { return jobs_; }
  [[nodiscard]] studies::StudyService& studies() noexcept { return *stores_.studies; }
  [[nodiscard]] storage::Buckets& buckets() noexcept { return *stores_.buckets; }
  [[nodiscard]] identity::Identities& identities() noexcept { return *stores_.identities; }
  /// Null where authentication is off. By purpose of a socket; they live as long as the installation.
  [[nodiscard]] access::Door* administration_door() noexcept {
    return doors_ ? &doors_->administration() : nullptr;
  }
  [[nodiscard]] access::Door* replica_door() noexcept { return doors_ ? &doors_->replicas() : nullptr; }
  /// By purpose of a socket: routes.h.
  [[nodiscard]] const http::Router& administration_routes() const noexcept { return administration_routes_; }
  [[nodiscard]] const http::Router& replica_routes() const noexcept { return replica_routes_; }
  [[nodiscard]] const http::Router& supervisor_routes() const noexcept { return supervisor_routes_; }
  [[nodiscard]] const Gates& gates() const noexcept { return gates_; }
  [[nodiscard]] const control::Settings& settings() const noexcept { return settings_; }
  /// What a JWT may name as its audience (stores/identity/jwt_rules.h).
  [[nodiscard]] const std::vector<std::string>& own_urls() const noexcept { return own_urls_; }
  [[nodiscard]] control::TokenService& tokens() noexcept { return tokens_; }
  [[nodiscard]] api::AskingAttempts& asking() noexcept { return asking_; }
  /// What the metadata server says, under the port's own names or Google's, to who is no replica: tokens of
  /// the administration, no machine. `universe`: see MetadataAnswers. They live as long as the installation.
  [[nodiscard]] api::MetadataAnswers MetadataForUsers(std::function<std::string()> universe);
  /// The same for programs in replicas, each for itself.
  [[nodiscard]] api::MetadataAnswers MetadataForReplicas(std::function<std::string()> universe);
  [[nodiscard]] http::RequestCounts& request_counts() noexcept { return request_counts_; }
  /// Of all clients, for every server of this process but one for supervisors alone.
  [[nodiscard]] http::ConnectionBudget& connections() noexcept { return foundation_->connections; }
  [[nodiscard]] Operations& operations() noexcept { return operations_; }
  /// Null: jobs run on this machine alone.
  [[nodiscard]] engine::Cluster* cluster() noexcept { return cluster_.get(); }
  /// For the listener of figures.
  [[nodiscard]] api::MetricsSources Metrics();
  [[nodiscard]] LoopWatch& watch() noexcept { return foundation_->watch; }

 private:
  [[nodiscard]] engine::AttemptHosts Hosts() noexcept {
    return {.here = host_, .with_agents = cluster_ ? &cluster_->host() : nullptr};
  }
  [[nodiscard]] engine::Admissions::Options Rooms();
  [[nodiscard]] static control::Settings MakeSettings(const ServeOptions& options, std::string_view secret,
                                                      const BoundSockets& sockets);
  [[nodiscard]] control::JobMaker::Policy MakePolicy(const ServeOptions& options,
                                                     const store::DataDirectory& data, Foundation& foundation,
                                                     placement::Capacity capacity,
                                                     placement::DevicePool devices);
  [[nodiscard]] curves::JobCurves::Outside CurvesOutside(const ServeOptions& options);
  [[nodiscard]] decltype(control::Collaborators::buckets_of) BucketsOf(const ServeOptions& options);
  /// For control::ImageRegistries: what was installed or started since the start.
  boost::asio::awaitable<std::string> LookForContainers();
  /// Attempts that start from now on use what was found.
  void UseContainers(const Result<engine::ContainerSupport>& found);
  /// What the constructor is made of.
  struct Parts {
    store::DataDirectory data;
    environment::Catalogue catalogue;
    std::unique_ptr<Foundation> foundation;
    Stores stores;
    control::Settings settings;
    engine::NodeSettings node;
    std::uint16_t tls_port;
    std::vector<std::string> own_urls;
    control::v1::Drain drain;
    std::string former_attempts_dir;
    std::unique_ptr<engine::SupervisorStarter> starter;
    std::unique_ptr<engine::Cluster> cluster;
  };
  Installation(boost::asio::io_context& loop, const ServeOptions& options, Parts parts);
  /// Of this server's catalogue, in its data directory.
  [[nodiscard]] api::RuntimeSource RuntimesHere();
  [[nodiscard]] api::MachineSource MachineHere();
  /// Where a gang asks for room, as quotas name it. Only with a cluster.
  [[nodiscard]] std::string_view EngineOf(const placement::Gang& gang) const;
  [[nodiscard]] bool OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type);
  void GuardRoutes();
  [[nodiscard]] std::vector<api::MetricsSources::Limit> KnownLimits() const;
  [[nodiscard]] ApiParts PartsFor(api::MetadataAnswers metadata);
  void AddRoutes(std::uint16_t tls_port);

  const ServeOptions& options_;
  store::DataDirectory data_;
  std::shared_ptr<environment::PythonInventory>
      pythons_;  ///< MakePolicy's; with the tasks of pools that look
  environment::Catalogue catalogue_;
  std::unique_ptr<Foundation> foundation_;
  Gates gates_;
  Stores stores_;
  engine::ContainerUpkeep container_upkeep_;
  store::Journal journal_;
  const control::Settings settings_;
  const std::vector<std::string> own_urls_;
  engine::NodeSettings node_;  ///< UseContainers changes it
  engine::ContainerProbe container_probe_;
  placement::Capacity capacity_;
  placement::DevicePool devices_;
  std::unique_ptr<engine::SupervisorStarter> starter_;
  engine::LocalAttemptHost host_;
  engine::LocalEngine engine_;
  std::unique_ptr<engine::Cluster> cluster_;
  engine::Admissions admissions_;
  control::UseKeeper use_keeper_;
  control::JobMaker maker_;
  control::JobService jobs_;
  curves::JobCurves curves_;
  control::TokenService tokens_;
  api::AskingAttempts asking_;
  std::optional<Doors> doors_;
  control::RequestQuota request_quota_;
  http::RequestCounts request_counts_;
  Operations operations_;
  control::DiskWatch disk_watch_;
  control::MachineWatch machine_watch_;
  control::Sweeper sweeper_;
  http::Router administration_routes_;
  http::Router replica_routes_;
  http::Router supervisor_routes_;
};

}  // namespace trainyard::server
