#include "programs/runtimes/program_source.h"

#include <utility>

#include "programs/runtimes/daemon_image.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/oci_packages.h"
#include "programs/sandbox/build_isolation.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

namespace {

bool RunsByDaemon(const v1::Manifest& manifest) {
  return manifest.program().container().runtime_kind() == v1::Manifest::CONTAINER_DAEMON;
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

environment::EnvironmentRequest EnvironmentOf(const v1::Manifest& manifest) {
  environment::EnvironmentRequest request{.environments_dir = manifest.places().environments_dir(),
                                          .runtime_version = manifest.program().runtime_version()};
  request.algorithms = manifest.program().built_in_algorithm();
  for (const auto& package : manifest.program().packages())
    request.packages.push_back({package.uri(), package.checksum()});
  return request;
}

Status Pull(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  const v1::Manifest::Container& container = manifest.program().container();
  const image::Sources sources{.images_dir = manifest.places().images_dir()};
  const image::ResolvedImage wanted{.reference = container.reference(), .digest = container.digest()};
  image::PullHooks pull{.info = hooks.info, .lock_fd = kLockFd, .stop = hooks.stop};
  if (hooks.progress)
    pull.progress = [&](environment::Progress progress) {
      progress.what += " " + container.image();
      hooks.progress(progress);
    };
  // Find would not take what it cannot keep; here it can be said why. Nobody removes it on the way, either.
  const auto use = image::ImageUse::Begin(sources.images_dir, container.digest());
  const auto pulled =
      use ? image::PullImage(sources, wanted, pull) : Result<image::Image>(std::unexpected(use.error()));
  if (!pulled) {
    Error error = pulled.error();
    error.message = "cannot pull the image " + container.image() + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  if (!HasImagePackages(manifest)) return {};
  TY_RETURN_IF_ERROR(NotePackageImage(manifest));
  return BuildPackageLayer(manifest, *pulled, hooks);
}

}  // namespace

std::optional<Prepared> InstalledPrograms::FindImage(const v1::Manifest& manifest) {
  const std::string& images_dir = manifest.places().images_dir();
  const std::string& digest = manifest.program().container().digest();
  if (!image_use_) {
    auto use = image::ImageUse::Begin(images_dir, digest);
    if (!use) return std::nullopt;  // it may be on its way out; preparing says what is wrong
    image_use_.emplace(*std::move(use));
  }
  auto image = image::FindImage(images_dir, digest);
  if (!image || !HasImagePackages(manifest)) return image;
  if (!AddPackageLayer(manifest, *image)) return std::nullopt;
  // The note may be missing; without it the layer is only kept for longer.
  static_cast<void>(NotePackageImage(manifest));
  return image;
}

std::optional<Prepared> InstalledPrograms::Find(const v1::Manifest& manifest) {
  if (RunsByDaemon(manifest)) {
    auto image = FindDaemonImage(manifest);
    return image ? std::optional<Prepared>(*std::move(image)) : std::nullopt;
  }
  if (manifest.program().has_container()) return FindImage(manifest);
  const environment::EnvironmentRequest request = EnvironmentOf(manifest);
  // First, so that nobody removes what is found. Without it things go on: preparing says what is wrong.
  if (!runtime_use_) {
    if (auto use = environment::RuntimeUse::Begin(request.environments_dir, request.runtime_version))
      runtime_use_.emplace(*std::move(use));
  }
  if (!layer_use_ && !request.packages.empty()) {
    if (auto use = environment::LayerUse::Begin(request)) layer_use_.emplace(*std::move(use));
  }
  auto environment = environment::FindEnvironment(request);
  return environment ? std::optional<Prepared>(*std::move(environment)) : std::nullopt;
}

Status InstalledPrograms::Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  if (RunsByDaemon(manifest)) return PrepareDaemonImage(manifest, hooks);
  if (manifest.program().has_container()) return Pull(manifest, hooks);
  const std::string attempts = FolderOf(manifest.places().attempt_dir());
  const auto& hidden_dirs = manifest.places().hidden_dirs();
  std::vector<std::string> hidden(hidden_dirs.begin(), hidden_dirs.end());
  hidden.push_back(FolderOf(attempts));
  const BuildIsolation isolation(ReadIsolation(manifest.places().build_isolation()), std::move(hidden));
  if (const std::string lacks = isolation.Lacks(); !lacks.empty()) hooks.info(lacks);
  PreparationHooks isolated = hooks;
  isolated.isolation = &isolation;
  auto made = environment::PrepareEnvironment(EnvironmentOf(manifest), isolated);
  if (!made) return std::unexpected(std::move(made).error());
  return {};
}

}  // namespace trainyard::replica
