#include "cli/images/images_folder.h"

#include <filesystem>
#include <system_error>

namespace trainyard::cli {

namespace fs = std::filesystem;

ImagesFolder FindImagesFolder(const Arguments& arguments, const SettingSources& sources) {
  const fs::path data = fs::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources)));
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(data, error);
  const fs::path& folder = error ? data : resolved;
  return {.images = folder / "images", .registries = folder / "registries"};
}

image::Sources SourcesOf(const ImagesFolder& folder, const Arguments& arguments) {
  image::Sources sources{.images_dir = folder.images, .registries_dir = folder.registries};
  if (const auto found = arguments.flags.find("--insecure-registry"); found != arguments.flags.end())
    sources.insecure = found->second;
  return sources;
}

}  // namespace trainyard::cli
