#pragma once

#include <optional>

#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/runtimes/daemon_api_request.h"

/// Images for containers that a container daemon runs: in the daemon's own store. Blocking; one thread.
namespace trainyard::replica {

/// What PrepareDaemonImage left in the attempt's directory; nothing: it has not been there, or failed.
[[nodiscard]] std::optional<DaemonImage> FindDaemonImage(const v1::Manifest& manifest);

/// Makes the daemon have the manifest's image, with the job's packages in it. An image that the daemon does
/// not have it pulls, by its digest; where it cannot, the image is brought into our cache and loaded from
/// there. Errors: those of DaemonApi, of image::PullImage, and of the packages' installation.
[[nodiscard]] Status PrepareDaemonImage(const v1::Manifest& manifest,
                                        const environment::PreparationHooks& hooks);

}  // namespace trainyard::replica
