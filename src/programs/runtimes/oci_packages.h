#pragma once

#include "base/result.h"
#include "programs/image/image.h"
#include "programs/runtimes/program_source.h"

namespace trainyard::replica {

/// Installs the manifest's packages in a container of the image, by an OCI runtime, and keeps what it wrote
/// as the directory PackageLayerFolder: one more layer of the image. Once, under a lock; a kill at any point
/// leaves nothing but the attempt's own directory. Blocks. Errors: those of StagePackages, and pip's.
[[nodiscard]] Status BuildPackageLayer(const v1::Manifest& manifest, const image::Image& image,
                                       const PreparationHooks& hooks);

/// Puts the layer on the image. False: it is not there.
[[nodiscard]] bool AddPackageLayer(const v1::Manifest& manifest, image::Image& image);

}  // namespace trainyard::replica
