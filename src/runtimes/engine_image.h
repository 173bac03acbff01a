#pragma once

#include <optional>

#include "base/result.h"
#include "environment/environment.h"
#include "runtimes/engine_api_request.h"

/// Images for containers that an engine runs: in the engine's own store. Blocking; one thread.
namespace trainyard::replica {

/// What PrepareEngineImage left in the attempt's folder; nothing: it has not been there, or failed.
[[nodiscard]] std::optional<EngineImage> FindEngineImage(const v1::Manifest& manifest);

/// Makes the engine have the manifest's image, with the job's packages in it. An image that the engine does
/// not have it pulls, by its digest; where it cannot, the image is brought into our cache and loaded from
/// there. Errors: those of EngineApi, of image::PullImage, and of the packages' installation.
[[nodiscard]] Status PrepareEngineImage(const v1::Manifest& manifest,
                                        const environment::PreparationHooks& hooks);

}  // namespace trainyard::replica
