#include "server/foundation.h"

#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/descriptor_limit.h"
#include "net/sockets/listen_address.h"
#include "programs/image/image.h"
#include "rules/placement/engine_choice.h"

namespace trainyard::server {

namespace {

constexpr unsigned kFileThreads = 2;
/// With this many descriptors or more, http::PlanDescriptors allows its maximum of connections.
constexpr std::uint64_t kDescriptorsWanted = 32'768;
/// One thread finds the owner of a connection, the other the accounts that have attempts.
constexpr unsigned kWhoAsksThreads = 2;
/// Each may wait for a registry.
constexpr unsigned kLookupThreads = 4;

/// How many clients can be served at once with the descriptors of this process. Raises its limit as far as
/// possible.
http::ConnectionBudget::Limits ConnectionLimits() {
  const std::uint64_t descriptors = RaiseDescriptorLimit();
  const http::DescriptorPlan plan = http::PlanDescriptors(descriptors);
  if (descriptors < kDescriptorsWanted) {
    Diagnose(DiagnosticLevel::kWarning,
             "the limit of open files is low: this process may have " + std::to_string(descriptors) +
                 " descriptors (ulimit -Hn): enough for " + std::to_string(plan.clients) +
                 " clients at once and " + std::to_string(plan.supervisors) +
                 " replicas. If there are more, idle clients are disconnected. Raise the hard limit to " +
                 std::to_string(kDescriptorsWanted));
  }
  return {.connections_max = plan.clients, .known_peer_max = plan.clients / 4 * 3};
}

control::ImageRegistries MakeRegistries(Foundation& foundation) {
  const ServeOptions& options = foundation.options;
  const store::DataDirectory& data = foundation.data;
  image::Sources sources{.images_dir = data.images_dir(),
                         .mapped = options.containers.image_map,
                         .insecure = options.containers.insecure_registries,
                         .registries_dir = data.registries_dir(),
                         .guarded = options.auth};
  return {.resolve =
              [sources](const std::string& image, std::chrono::milliseconds timeout,
                        const std::stop_token& stop) {
                return image::ResolveImage(sources, image, timeout, stop);
              },
          .find_pulled = [sources](const std::string& image) { return image::FindPulled(sources, image); },
          .registry_of = [sources](const std::string& image) { return image::RegistryOf(sources, image); },
          .uses_credentials =
              [sources](const std::string& image) { return image::UsesCredentials(sources, image); },
          .at_create = &foundation.image_lookups,
          .queued = &foundation.queued_lookups};
}

control::Settings MakeSettings(const ServeOptions& options, std::string_view secret,
                               const BoundSockets& sockets) {
  return {.keys = control::Keys::Derive(secret),
          .server_url = sockets::IsLoopback(options.host)
                            ? sockets::Url("http", options.host, sockets.administration.port)
                            : sockets::Url("https", sockets::PublicName(options.host, options.host_names),
                                           sockets.administration_tls.port),
          .auth = options.auth,
          .stop_grace = options.stop_grace,
          .restart_pause = options.restart_pause,
          .job_log_bytes_max = options.job_log_bytes_max,
          .replica_log_bytes_max = options.replica_log_bytes_max,
          .machine_limits = options.capacity == placement::Capacity::Mode::kStrict};
}

/// What a JWT may name as its audience.
std::vector<std::string> OwnUrlsOf(const ServeOptions& options, const BoundSockets& sockets) {
  sockets::OwnPorts ports{.plain = {sockets.administration.port}, .tls = sockets.administration_tls.port};
  if (sockets.replicas) ports.plain.push_back(sockets.replicas->port);
  return sockets::OwnUrls(sockets::OwnNames(options.host, options.host_names), ports);
}

}  // namespace

Result<std::unique_ptr<Foundation>> Foundation::Open(boost::asio::io_context& loop,
                                                     const ServeOptions& options, store::DataDirectory data,
                                                     const BoundSockets& sockets) {
  TY_TRY(const std::string secret, data.Secret());
  TY_TRY(
      engine::ContainerSupport containers,
      engine::FindContainerSupport(options.containers.choice, options.network, options.job_uids.has_value()));
  engine::SayContainerSupport(containers);
  std::unique_ptr<Foundation> made(new Foundation(loop, options, std::move(data), sockets, secret));
  made->UseContainers(std::move(containers));
  return made;
}

Foundation::Foundation(boost::asio::io_context& the_loop, const ServeOptions& the_options,
                       store::DataDirectory opened, const BoundSockets& sockets, std::string_view secret)
    : loop(the_loop),
      options(the_options),
      data(std::move(opened)),
      settings(MakeSettings(options, secret, sockets)),
      own_urls(OwnUrlsOf(options, sockets)),
      files(kFileThreads),
      who_asks(kWhoAsksThreads),
      image_lookups(kLookupThreads),
      queued_lookups(kLookupThreads),
      disk(options.data_dir, options.retention.marks),
      clock_watch(data.Path("")),
      watch(options.loop_turn_max),
      connections(ConnectionLimits()) {}

void Foundation::UseContainers(engine::ContainerSupport found) {
  containers = std::move(found);
  const bool runs_here = containers.kind != replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED;
  // In pods the nodes' kubelets run them. Elsewhere jobs wait until something here does.
  const bool runs_in_pods = options.engine.kind == placement::EngineChoice::Kind::kKubernetes;
  if (!runs_here && !runs_in_pods) return;
  registries = MakeRegistries(*this);
}

}  // namespace trainyard::server
