#include "server/foundation.h"

#include <cstdint>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/descriptor_limit.h"
#include "programs/image/image.h"

namespace trainyard::server {

namespace {

constexpr unsigned kFileThreads = 2;
/// From here on there are as many connections as http::PlanDescriptors gives to anybody.
constexpr std::uint64_t kDescriptorsWanted = 32'768;
/// One for those who ask whose connection it is, one for those who ask which accounts have attempts.
constexpr unsigned kWhoAsksThreads = 2;
/// Each may wait for a registry.
constexpr unsigned kLookupThreads = 4;

/// How many clients can be served at once with the descriptors that this process may have: all that it can
/// get.
http::ConnectionBudget::Limits ConnectionLimits() {
  const std::uint64_t descriptors = RaiseDescriptorLimit();
  const http::DescriptorPlan plan = http::PlanDescriptors(descriptors);
  if (descriptors < kDescriptorsWanted) {
    Diagnose(DiagnosticLevel::kWarning,
             "this process may have " + std::to_string(descriptors) +
                 " descriptors (ulimit -Hn): enough for " + std::to_string(plan.clients) +
                 " clients at once and " + std::to_string(plan.supervisors) +
                 " replicas. Idle clients are disconnected when there are more; raise the hard limit to " +
                 std::to_string(kDescriptorsWanted));
  }
  return {.connections_max = plan.clients, .known_peer_max = plan.clients / 4 * 3};
}

control::ImageRegistries MakeRegistries(const ServeOptions& options, const store::DataDirectory& data,
                                        Foundation& foundation) {
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

}  // namespace

Foundation::Foundation(engine::ContainerSupport found, const ServeOptions& options,
                       const store::DataDirectory& data)
    : files(kFileThreads),
      who_asks(kWhoAsksThreads),
      image_lookups(kLookupThreads),
      queued_lookups(kLookupThreads),
      disk(options.data_dir, options.retention.marks),
      clock_watch(data.Path("")),
      watch(options.loop_turn_max),
      connections(ConnectionLimits()) {
  UseContainers(std::move(found), options, data);
}

void Foundation::UseContainers(engine::ContainerSupport found, const ServeOptions& options,
                               const store::DataDirectory& data) {
  containers = std::move(found);
  if (containers.kind == replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED) return;
  registries = MakeRegistries(options, data, *this);
}

}  // namespace trainyard::server
