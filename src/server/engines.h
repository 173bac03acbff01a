#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/admissions.h"
#include "engine/attempt_hosts.h"
#include "engine/clusters.h"
#include "engine/local/container_support.h"
#include "engine/local/container_upkeep.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/local_attempt_host.h"
#include "engine/local/local_engine.h"
#include "engine/local/machine_limits.h"
#include "server/bound_sockets.h"
#include "server/foundation.h"

namespace trainyard::server {

/// The engines and hosts that run jobs: this machine with its devices and containers, and the clusters if
/// there are some. Created before the loop runs; after that loop thread only.
class Engines {
 public:
  /// Returns the digests of images that unfinished jobs use; called by the loop.
  using NeededImages = std::function<boost::asio::awaitable<std::set<std::string>>()>;
  /// Blocking. `base` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<Engines>> Open(Foundation& base, const BoundSockets& sockets,
                                                             const engine::MachineLimits& limits,
                                                             NeededImages needed);
  Engines(const Engines&) = delete;
  Engines& operator=(const Engines&) = delete;

  [[nodiscard]] engine::LocalEngine& local() noexcept { return engine_; }
  /// Jobs request their resources here.
  [[nodiscard]] engine::Admissions& admissions() noexcept { return admissions_; }
  /// The attempt hosts, including the clusters' if there are some.
  [[nodiscard]] engine::AttemptHosts hosts() noexcept {
    return {.here = host_, .with_agents = clusters_ ? &clusters_->host() : nullptr};
  }
  /// Null: jobs run on this machine alone.
  [[nodiscard]] engine::Clusters* clusters() noexcept { return clusters_.get(); }
  [[nodiscard]] const placement::Capacity& capacity() const noexcept { return capacity_; }
  [[nodiscard]] const placement::DevicePool& devices() const noexcept { return devices_; }
  /// The machine has another accelerator.
  void AddDevice(placement::Device device) { devices_.Add(std::move(device)); }
  /// The limits of replicas on this machine, as known now.
  [[nodiscard]] engine::MachineLimits limits() const { return starter_->limits(); }
  /// The engine that a gang's request goes to, by its name in quotas. Only with a cluster.
  [[nodiscard]] std::string_view EngineOf(const placement::Gang& gang) const;
  [[nodiscard]] bool OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type);

 private:
  /// What the constructor is made of.
  struct Machine {
    engine::NodeSettings node;
    std::string former_attempts_dir;
    std::unique_ptr<engine::SupervisorStarter> starter;
    std::unique_ptr<engine::Clusters> clusters;
  };
  Engines(Foundation& base, Machine machine, NeededImages needed);
  [[nodiscard]] engine::Admissions::Options Rooms();
  /// For control::ImageRegistries: looks for a container runtime that was installed or started since the
  /// server's start.
  boost::asio::awaitable<std::string> LookForContainers();
  /// From now on new attempts use what was found.
  void UseContainers(const Result<engine::ContainerSupport>& found);

  Foundation& base_;
  engine::ContainerUpkeep container_upkeep_;
  engine::NodeSettings node_;  ///< UseContainers changes it
  engine::ContainerProbe container_probe_;
  placement::Capacity capacity_;
  placement::DevicePool devices_;
  std::unique_ptr<engine::SupervisorStarter> starter_;
  engine::LocalAttemptHost host_;
  engine::LocalEngine engine_;
  std::unique_ptr<engine::Clusters> clusters_;
  engine::Admissions admissions_;
};

}  // namespace trainyard::server
