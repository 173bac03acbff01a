#include "programs/runtimes/daemon_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "net/http/client_stream.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/environment/build_lock.h"
#include "programs/image/cache.h"
#include "programs/runtimes/daemon_api.h"
#include "programs/runtimes/daemon_container.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/program_source.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

/// Names for images that exist only here: loaded ones and built ones. No registry has such a host.
constexpr std::string_view kLoaded = "trainyard.invalid/loaded";
constexpr std::string_view kPackages = "trainyard.invalid/packages";
constexpr std::chrono::minutes kOutputSilenceMax{120};

std::string PreparedFile(const v1::Manifest& manifest) {
  return manifest.places().attempt_dir() + "/daemon_image";
}

std::string LoadedName(const v1::Manifest& manifest) {
  const std::string& digest = manifest.program().container().digest();
  return std::string(kLoaded) + ":" + digest.substr(digest.find(':') + 1);
}

std::optional<DaemonImage> FindAny(DaemonApi& api, const std::vector<std::string>& names, Status& reached) {
  for (const std::string& name : names) {
    auto image = api.InspectImage(name);
    if (image) return *std::move(image);
    if (image.error().code != Code::kNotFound) reached = std::unexpected(image.error());
  }
  return std::nullopt;
}

/// The access with which the image was found when the job was created.
image::RegistryAccess AccessOf(const v1::Manifest& manifest) {
  const v1::Manifest::Container& container = manifest.program().container();
  auto note = image::ReadNote(image::CacheLayout(manifest.places().images_dir()), container.digest(),
                              container.reference());
  return note ? std::move(note->access) : image::RegistryAccess{};
}

/// X-Registry-Auth.
Result<std::string> AuthFor(const image::RegistryAccess& access, const std::string& reference) {
  if (access.auth_file.empty()) return std::string();
  TY_TRY(const std::string file, ReadFile(access.auth_file));
  return RegistryAuth(file, reference);
}

/// A directory in the attempt's for one purpose; removed at the end.
class AttemptFolder {
 public:
  explicit AttemptFolder(std::string path) : path_(std::move(path)) {}
  AttemptFolder(const AttemptFolder&) = delete;
  AttemptFolder& operator=(const AttemptFolder&) = delete;
  ~AttemptFolder() { static_cast<void>(RemoveTree(path_)); }  // otherwise it is removed with the attempt
  [[nodiscard]] Status Make() const { return MakeFolders(path_); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

Status PullByDaemon(DaemonApi& api, const v1::Manifest& manifest, const image::RegistryAccess& access,
                    const PreparationHooks& hooks) {
  const std::string& reference = manifest.program().container().reference();
  TY_TRY(const image::Reference parsed, image::ParseReference(reference));
  if (!parsed.IsRegistry()) return std::unexpected(FailedPrecondition(reference + " is not in a registry"));
  TY_TRY(const std::string auth, AuthFor(access, reference));
  return api.PullImage(reference, auth, hooks.info);
}

/// Loads the image from our cache into the daemon, by way of an archive in the attempt's directory.
Status LoadFromCache(DaemonApi& api, const v1::Manifest& manifest, const image::RegistryAccess& access,
                     const PreparationHooks& hooks) {
  const v1::Manifest::Container& container = manifest.program().container();
  const std::string& images_dir = manifest.places().images_dir();
  TY_TRY(const image::Image cached,
         image::PullImage({.images_dir = images_dir},
                          {.reference = container.reference(), .digest = container.digest(), .size_bytes = 0},
                          {.info = hooks.info, .stop = hooks.stop}));
  const AttemptFolder folder(manifest.places().attempt_dir() + "/load");
  TY_RETURN_IF_ERROR(folder.Make());
  const auto blob = image::ReadBlob(image::CacheLayout(images_dir), container.digest());
  if (!blob) return std::unexpected(Internal("the manifest of the image is not in the cache"));
  TY_RETURN_IF_ERROR(image::WriteLayout(*blob, container.digest(), folder.path()));
  const std::string archive = folder.path() + "/image.tar";
  TY_TRY(const image::Skopeo skopeo, image::Skopeo::Find({.temporary = folder.path(), .stop = hooks.stop}));
  TY_TRY(const image::Reference source, image::ParseReference("oci:" + folder.path() + ":image"));
  TY_TRY(const image::Reference destination,
         image::ParseReference("docker-archive:" + archive + ":" + LoadedName(manifest)));
  // A layer may have addresses (`urls`), which skopeo tries before it looks into the cache.
  TY_RETURN_IF_ERROR(skopeo.Push(source, {}, image::CacheLayout(images_dir).Blobs(), destination,
                                 {.guarded = access.guarded}));
  hooks.info("Loading the image into the container engine.");
  TY_TRY(const UniqueFd file, OpenFile(archive, O_RDONLY));
  return api.LoadImage(file.get(), hooks.info);
}

/// Obtains the image itself, without packages. One replica at a time: while podman stores an image, it
/// answers a look at that image with an error ("locating item named "manifest"").
Result<DaemonImage> ObtainImage(DaemonApi& api, const v1::Manifest& manifest, const PreparationHooks& hooks) {
  const v1::Manifest::Container& container = manifest.program().container();
  const image::CacheLayout layout(manifest.places().images_dir());
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  const auto waiting = [&hooks] {
    hooks.info("Waiting for another replica, which is pulling the same image.");
  };
  TY_TRY(const UniqueFd lock,
         image::WaitForLock(layout.DaemonLock(container.digest()), LOCK_EX, waiting, hooks.stop));
  const std::vector<std::string> names = {container.reference(), LoadedName(manifest)};
  Status reached;
  if (auto found = FindAny(api, names, reached)) return *std::move(found);
  TY_RETURN_IF_ERROR(reached);  // without an answer from the daemon, loading would fail, too
  const image::RegistryAccess access = AccessOf(manifest);
  if (!access.guarded) {  // otherwise connections to the registry must be watched, which is impossible for
                          // the daemon's
    hooks.info("The container engine pulls the image " + container.image() + ".");
    const Status pulled = PullByDaemon(api, manifest, access, hooks);
    if (pulled) {
      if (auto found = FindAny(api, names, reached)) return *std::move(found);
    } else {
      hooks.info("The container engine cannot pull it (" + pulled.error().message +
                 "): loading it from this server.");
    }
  }
  TY_RETURN_IF_ERROR(LoadFromCache(api, manifest, access, hooks));
  if (auto found = FindAny(api, names, reached)) return *std::move(found);
  TY_RETURN_IF_ERROR(reached);
  return std::unexpected(Internal("the container engine does not have the image that was loaded into it"));
}

Result<ToolEnd> RunInstallation(DaemonApi& api, const std::string& name, const DaemonContainer& container,
                                InstallationLines& lines) {
  TY_RETURN_IF_ERROR(api.Create(name, CreateContainerBody(container)));
  TY_TRY(http::ClientStream output, api.AttachAndStart(name));
  DaemonFrames frames;
  const auto take = [&lines](int stream, std::string_view bytes) {
    lines.Take(stream == 2, bytes);
    return Status();
  };
  for (;;) {
    TY_TRY(const std::string bytes, output.Read(kOutputSilenceMax));
    if (bytes.empty()) break;
    TY_RETURN_IF_ERROR(frames.Feed(bytes, take));
  }
  TY_TRY(const ContainerState state, api.Wait(name));
  return ToolEnd{.exit_code = state.exit_code, .signal = 0, .tail = lines.End(state.exit_code == 0)};
}

/// Installs the packages in a container of the image and keeps its files as an image: under a lock, once.
Status BuildPackages(DaemonApi& api, const DaemonImage& image, const v1::Manifest& manifest,
                     const std::string& built, const PreparationHooks& hooks) {
  const std::string folder = PackageLayerFolder(manifest);
  TY_RETURN_IF_ERROR(MakeFolders(fs::path(folder).parent_path()));
  const auto waiting = [&hooks] {
    hooks.info("Waiting for another replica, which is installing the same packages.");
  };
  TY_TRY(const auto lock, environment::BuildLock::Acquire(folder + ".lock", waiting, hooks.stop));
  if (api.InspectImage(built)) return {};
  TY_TRY(PackageInstallation installation, StagePackages(manifest, hooks));
  const AttemptDir dir{manifest.places().attempt_dir()};
  const std::string name = ContainerName(dir) + std::string(kPackagesSuffix);
  const DaemonContainer container{
      .image = image.id,
      .argv = std::move(installation.argv),
      .user = "0:0",  // so that the packages are installed where every user's Python finds them
      .labels = ContainerLabels(dir),
      .binds = std::move(installation.binds),
  };
  TY_RETURN_IF_ERROR(NoteContainer(dir, manifest.program().container().runtime_address(), name));
  InstallationLines lines(hooks, folder);
  auto end = RunInstallation(api, name, container, lines);
  Status done;
  if (!end && end.error().code == Code::kFailedPrecondition) {
    done = std::unexpected(NoPythonFailure(manifest, end.error().message));
  } else if (!end) {
    done = std::unexpected(end.error());
  } else if (!end->ok()) {
    done = std::unexpected(PackageFailure(manifest, *end));
  } else {
    const std::size_t colon = built.rfind(':');
    done = api.Commit(name, built.substr(0, colon), built.substr(colon + 1));
  }
  // It has ended. A container that the daemon does not remove in time is removed with the attempt, which does
  // not end before that.
  static_cast<void>(RemoveNotedContainers(dir));
  return done;
}

}  // namespace

std::optional<DaemonImage> FindDaemonImage(const v1::Manifest& manifest) {
  const auto text = ReadFile(PreparedFile(manifest));
  if (!text) return std::nullopt;
  auto image = ParseDaemonImage(*text);
  return image ? std::optional(*std::move(image)) : std::nullopt;
}

Status PrepareDaemonImage(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  DaemonApi api(manifest.program().container().runtime_address());
  TY_TRY(DaemonImage image, ObtainImage(api, manifest, hooks));
  if (HasImagePackages(manifest)) {
    const std::string built = std::string(kPackages) + ":" + PackageLayerName(manifest);
    auto found = api.InspectImage(built);
    if (!found) {
      TY_RETURN_IF_ERROR(BuildPackages(api, image, manifest, built, hooks));
      found = api.InspectImage(built);
      if (!found) return std::unexpected(found.error());
    }
    image.id = found->id;  // with the configuration of the image itself: the container's is not usable
  }
  return WriteFileAtomically(PreparedFile(manifest), PrintDaemonImage(image), 0600);
}

}  // namespace trainyard::replica
