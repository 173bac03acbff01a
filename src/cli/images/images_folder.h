#pragma once

#include <string>

#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"
#include "programs/image/image.h"

namespace trainyard::cli {

/// Directories below the data directory (--data), absolute and without links.
struct ImagesFolder {
  std::string images;
  std::string registries;
};
[[nodiscard]] ImagesFolder FindImagesFolder(const Arguments& arguments, const SettingSources& sources);

/// The sources of images: this directory, and registries with --insecure-registry.
[[nodiscard]] image::Sources SourcesOf(const ImagesFolder& folder, const Arguments& arguments);

}  // namespace trainyard::cli
