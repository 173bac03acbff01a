#pragma once

#include <span>
#include <string>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"
#include "programs/image/image.h"

/// `images ...` and `registries ...`: the container images of a data directory, and the credentials of
/// registries. The commands work on its files and take the same locks as a server, so a server may run or
/// not.
namespace trainyard::cli {

[[nodiscard]] ExitStatus ListImages(const LocalSession& session);
[[nodiscard]] ExitStatus InspectImage(const LocalSession& session);
[[nodiscard]] ExitStatus PullImage(const LocalSession& session);
[[nodiscard]] ExitStatus LoadImages(const LocalSession& session);
[[nodiscard]] ExitStatus PushImage(const LocalSession& session);
[[nodiscard]] ExitStatus RemoveImages(const LocalSession& session);

[[nodiscard]] ExitStatus ListRegistries(const LocalSession& session);
[[nodiscard]] ExitStatus LogInToRegistry(const LocalSession& session);
[[nodiscard]] ExitStatus LogOutOfRegistry(const LocalSession& session);

/// Directories below the data directory (--data), absolute and without links.
struct ImagesFolder {
  std::string images;
  std::string registries;
};
[[nodiscard]] ImagesFolder FindImagesFolder(const Arguments& arguments, const SettingSources& sources);

/// The sources of images: this directory, and registries with --insecure-registry.
[[nodiscard]] image::Sources SourcesOf(const ImagesFolder& folder, const Arguments& arguments);

}  // namespace trainyard::cli
