#pragma once

#include <optional>

#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/runtimes/daemon_api_request.h"

/// Images in a container daemon's own store, for containers that it runs. Blocking; one thread.
namespace trainyard::replica {

/// The result of PrepareDaemonImage from the attempt's directory; empty: it did not run, or failed.
[[nodiscard]] std::optional<DaemonImage> FindDaemonImage(const v1::Manifest& manifest);

/// Makes sure that the daemon has the manifest's image, with the job's packages in it. If the daemon does not
/// have the image, it pulls it by its digest; if it cannot, the image is pulled into our cache and loaded
/// from there. Errors: those of DaemonApi, of image::PullImage, and of the packages' installation.
[[nodiscard]] Status PrepareDaemonImage(const v1::Manifest& manifest,
                                        const environment::PreparationHooks& hooks);

}  // namespace trainyard::replica
