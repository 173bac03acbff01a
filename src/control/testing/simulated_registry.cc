#include "control/testing/simulated_registry.h"

#include <string>

namespace trainyard::control {

SimulatedRegistry::SimulatedRegistry() {
  registries_.resolve = [this](const std::string& image, std::chrono::milliseconds,
                               const std::stop_token&) -> Result<image::ResolvedImage> {
    if (is_silent_) return std::unexpected(Unavailable("the registry does not answer"));
    if (image == kMissing) return std::unexpected(NotFound("there is no such image"));
    return image::ResolvedImage{.reference = image + "@sha256:1", .digest = "sha256:1"};
  };
  registries_.find_pulled = [](const std::string&) { return std::nullopt; };
  registries_.registry_of = [](const std::string&) { return "registry"; };
  registries_.at_create = &pool_;
  registries_.queued = &pool_;
}

}  // namespace trainyard::control
