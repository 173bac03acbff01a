#include "server/engines.h"

#include <cstring>
#include <optional>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/descriptor_limit.h"
#include "control/intake/image_lookups.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/leftovers.h"
#include "engine/local/machine.h"
#include "server/node_settings.h"
#include "stores/backup/restore_backup.h"

namespace trainyard::server {

namespace {

/// Reasons may name jobs of other projects unless users have to log in.
placement::Naming NamingOf(const ServeOptions& options) { return {.others = !options.auth}; }

/// `jobs` is called later, by the loop.
engine::ContainerUpkeep::Options UpkeepOptions(Foundation& foundation, Engines::NeededImages needed) {
  const ContainerOptions& options = foundation.options.containers;
  const store::DataDirectory& data = foundation.data;
  const engine::ContainerSupport& containers = foundation.containers;
  engine::ContainerUpkeep::Options upkeep{.images_dir = data.images_dir(),
                                          .attempts_dir = data.attempts_dir()};
  if (options.images_bytes_max > 0) upkeep.limits.bytes_max = options.images_bytes_max;
  if (options.images_age_max > std::chrono::hours(0)) upkeep.limits.age_max = options.images_age_max;
  if (containers.kind == replica::v1::Manifest::CONTAINER_DAEMON) upkeep.daemon_socket = containers.address;
  upkeep.needed = std::move(needed);
  upkeep.clock_ahead = [&watch = foundation.clock_watch] {
    return watch.Doubt().value_or(std::chrono::nanoseconds{0});
  };
  return upkeep;
}

engine::Clusters::Place PlaceOfClusters(const ServeOptions& options, const store::DataDirectory& data) {
  return {.project = options.project,
          .google_front = options.google_front,
          .image_map = options.containers.image_map,
          .environments_dir = data.environments_dir(),
          .address_file = data.Path("run/agents-address"),
          .slurm_database = data.Path("engines.db"),
          .kubernetes_database = data.Path("kubernetes.db")};
}

/// The directory of attempts for which jobs of a restored data directory have to wait; empty: there is none.
Result<std::string> FormerAttemptsOf(const store::DataDirectory& data) {
  std::string former = backup::FormerAttempts(data.Path(""));
  if (former.empty() || engine::HasLivingAttempts(former)) return former;
  TY_RETURN_IF_ERROR(backup::ForgetFormer(data.Path("")));
  return "";
}

/// Prints a line for the operator if the data directory was restored.
void SayWhatItIsMadeOf(const store::DataDirectory& data, const std::string& former) {
  const auto from = backup::ReadRestoredFrom(data.Path(""));
  if (!from) return;
  Diagnose(DiagnosticLevel::kInfo,
           "this data directory was restored from a backup of " + from->data_directory() + " with " +
               std::to_string(from->unfinished_jobs()) +
               " unfinished jobs; replicas that were running start again with a new attempt" +
               (former.empty() ? "" : ", once no process of the job runs in " + former + " any more"));
}

/// Users' programs get the descriptor limit that the server started with: some cannot use descriptors beyond
/// 1,023.
std::vector<std::string> SupervisorArguments() {
  std::vector<std::string> arguments = {"replica"};
  if (const auto former = FormerDescriptorLimit())
    arguments.push_back("--descriptors=" + std::to_string(*former));
  return arguments;
}

engine::LocalEngine::Options LocalOptions(const ServeOptions& options, const control::Keys& keys,
                                          placement::Capacity capacity, placement::DevicePool devices,
                                          const Clock& clock) {
  std::uint32_t spread = 0;
  std::memcpy(&spread, keys.ports.data(), sizeof(spread));
  return {.capacity = capacity,
          .lease_spread = spread,
          .network = options.network,
          .devices = std::move(devices),
          .shares = {.weights = options.shares.weights, .naming = NamingOf(options), .clock = &clock}};
}

}  // namespace

Result<std::unique_ptr<Engines>> Engines::Open(Foundation& base, const BoundSockets& sockets,
                                               const engine::MachineLimits& limits, NeededImages needed) {
  const ServeOptions& options = base.options;
  const store::DataDirectory& data = base.data;
  TY_TRY(std::string former, FormerAttemptsOf(data));
  SayWhatItIsMadeOf(data, former);
  engine::NodeSettings node = MakeNodeSettings(options, data, base.containers, sockets);
  if (options.google_front) {
    TY_TRY(node.google_front, PrepareGoogleFront(options, data, sockets));
  }
  auto starter = engine::MakeStarter(options.keeper, options.capacity, data.attempts_dir(), limits);
  TY_TRY(auto clusters, engine::Clusters::Open(base.loop, options.engine, PlaceOfClusters(options, data),
                                               base.clock, sockets.identity));
  Machine machine{.node = std::move(node),
                  .former_attempts_dir = std::move(former),
                  .starter = std::move(starter),
                  .clusters = std::move(clusters)};
  return std::unique_ptr<Engines>(new Engines(base, std::move(machine), std::move(needed)));
}

Engines::Engines(Foundation& base, Machine machine, NeededImages needed)
    : base_(base),
      container_upkeep_(base.LoopFor("upkeep of images"), base.image_lookups,
                        UpkeepOptions(base, std::move(needed))),
      node_(std::move(machine.node)),
      container_probe_(
          base.LoopFor("containers"), base.image_lookups,
          [choice = base.options.containers.choice, network = base.options.network,
           users = base.options.job_uids.has_value()] {
            return engine::FindContainerSupport(choice, network, users);
          },
          [this](const Result<engine::ContainerSupport>& seen) { UseContainers(seen); }),
      capacity_(engine::MachineCapacity(base.options.capacity)),
      devices_(engine::MachineDevices(base.options.accelerators, base.options.accelerator_map)),
      starter_(std::move(machine.starter)),
      host_(base.LoopFor("attempts"), node_, *starter_,
            // The keeper is another process: its /proc/self/exe is its own program, so it gets our path.
            {.supervisor_program = base.options.keeper.empty() ? "/proc/self/exe" : engine::OwnProgram(),
             .supervisor_arguments = SupervisorArguments(),
             .former_attempts_dir = std::move(machine.former_attempts_dir)}),
      engine_(base.LoopFor("admissions"),
              LocalOptions(base.options, base.settings.keys, capacity_, devices_, base.clock)),
      clusters_(std::move(machine.clusters)),
      admissions_(base.LoopFor("admissions"), Rooms()) {
  if (base.options.containers.choice.way != engine::ContainerChoice::Way::kOff && !base.options.job_uids)
    base.registries.look_for_containers = [this] { return LookForContainers(); };
}

engine::Admissions::Options Engines::Rooms() {
  const placement::Naming naming = NamingOf(base_.options);
  const auto room = [&](std::string_view name, engine::Engine& engine) {
    return engine::Admissions::Options::Room{
        .name = name, .engine = engine, .quotas = {base_.options.shares.quotas, name, naming}};
  };
  engine::Admissions::Options options{
      .rooms = {room(placement::kLocalEngine, engine_)},
      .engine_of = [this](const placement::Gang& gang) { return EngineOf(gang); },
      .naming = naming};
  if (clusters_)
    for (const auto& [name, engine] : clusters_->engines()) options.rooms.push_back(room(name, *engine));
  return options;
}

boost::asio::awaitable<std::string> Engines::LookForContainers() {
  co_await container_probe_.Ask(control::kImageLookUpMax);
  co_return base_.containers.lacking;
}

/// An error changes nothing: if the operator demands one way, the server does not start without it.
void Engines::UseContainers(const Result<engine::ContainerSupport>& found) {
  if (!found || base_.containers.kind != replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED) return;
  base_.UseContainers(*found);
  if (found->kind == replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED) return;
  engine::SayContainerSupport(*found);
  node_.container_runtime = found->kind;
  node_.container_runtime_address = found->address;
  if (found->kind == replica::v1::Manifest::CONTAINER_DAEMON) container_upkeep_.UseDaemon(found->address);
}

std::string_view Engines::EngineOf(const placement::Gang& gang) const {
  return placement::EngineOf(base_.options.engine, devices_, gang);
}

bool Engines::OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type) {
  std::function<bool(std::string_view)> there;
  if (clusters_)
    there = [&](std::string_view engine) {
      return clusters_->engines().at(engine)->OffersAccelerator(region, type);
    };
  return placement::OffersAccelerator(base_.options.engine, devices_, region, type, there);
}

}  // namespace trainyard::server
