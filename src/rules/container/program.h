#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/container/image_config.h"
#include "trainyard/replica/v1/replica.pb.h"

/// What a container runs. Pure: any thread.
namespace trainyard::container {

/// ENTRYPOINT, CMD, containerCommand, containerArgs and args: four cases, as Kubernetes has them; the
/// service's own args (tuned flags, --job-dir) come last whichever it is.
/// @return kFailedPrecondition if nothing is left to run: the image has neither and the job gives none.
/// Source: spec api.md section 4.1, environment.md section 8.
[[nodiscard]] Result<std::vector<std::string>> ProgramOf(const ImageConfig& image,
                                                         const replica::v1::Manifest::Container& container);

}  // namespace trainyard::container
