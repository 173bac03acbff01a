#pragma once

#include <string>

#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"
#include "image/image.h"

namespace trainyard::cli {

/// Folders of a data folder (--data), absolute and without links.
struct ImagesFolder {
  std::string images;
  std::string registries;
};
[[nodiscard]] ImagesFolder FindImagesFolder(const Arguments& arguments, const SettingSources& sources);

/// Where images are looked for: this folder, and --insecure-registry.
[[nodiscard]] image::Sources SourcesOf(const ImagesFolder& folder, const Arguments& arguments);

}  // namespace trainyard::cli
