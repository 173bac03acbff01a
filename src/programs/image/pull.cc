#include <sys/file.h>
#include <sys/statvfs.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/unique_fd.h"
#include "programs/environment/build_lock.h"
#include "programs/image/cache.h"
#include "programs/image/image.h"
#include "programs/image/layer_folder.h"
#include "programs/image/layers_pull.h"
#include "programs/image/manifest.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
using environment::BuildLock;

/// A failed pull is repeated at once, and once more after a while; complete layers are kept.
constexpr int kPullTriesMax = 3;
constexpr std::chrono::milliseconds kPullRetryWait{1500};
constexpr std::chrono::seconds kInspectTimeout{60};

/// Removes what killed pulls left: their lock is free.
void RemoveLeftovers(const CacheLayout& layout) {
  for (const fs::path& path : EntriesOf(layout.Pulls()).value_or(std::vector<fs::path>())) {
    const std::string digest = "sha256:" + path.filename().string();
    if (!IsSha256(digest)) continue;  // a temporary directory of a call of skopeo
    if (BuildLock::Try(layout.Lock(digest))) std::ignore = RemoveTree(path);
  }
}

class Pulling {
 public:
  Pulling(const CacheLayout& layout, const Skopeo& skopeo, const Reference& reference,
          const RegistryAccess& access, const ResolvedImage& image, const PullHooks& hooks)
      : layout_(layout),
        skopeo_(skopeo),
        reference_(reference),
        access_(access),
        image_(image),
        hooks_(hooks) {}

  Result<CachedImage> Run() {
    TY_TRY(const Manifest manifest, FindManifest());
    TY_TRY(const Config config, FindConfig(manifest));
    TY_RETURN_IF_ERROR(CheckArchitecture(config, ThisArchitecture()));
    if (config.diff_ids.size() != manifest.layers.size())
      return std::unexpected(
          Error{Code::kDataLoss, "its config and its manifest disagree about the layers", {}});
    TY_RETURN_IF_ERROR(CheckSpace(manifest));
    Say("Pulling image " + image_.reference + " (" + std::to_string(manifest.layers.size()) +
        (manifest.layers.size() == 1 ? " layer, " : " layers, ") + PrintBytes(manifest.LayerBytes()) + ").");
    TY_TRY(std::vector<LayerRecord> layers, PullWithRetries(manifest, config));
    return CachedImage{.digest = image_.digest,
                       .reference = image_.reference,
                       .names = {},
                       .loaded_names = {},
                       .loaded = false,
                       .pulled = std::chrono::system_clock::now(),
                       .config_digest = manifest.config.digest,
                       .layers = std::move(layers)};
  }

 private:
  void Say(const std::string& line) const {
    if (hooks_.info) hooks_.info(line);
  }

  Result<Manifest> FindManifest() {
    std::optional<std::string> bytes = ReadBlob(layout_, image_.digest);
    if (!bytes) {
      TY_TRY(bytes, skopeo_.Inspect(reference_, access_, false, kInspectTimeout));
      if (IsIndex(*bytes)) {
        // From an archive, only the whole image can be copied, and its manifest comes with it.
        TY_RETURN_IF_ERROR(
            skopeo_.Pull(reference_, access_, layout_.Pull(image_.digest) / "layout", layout_.Blobs()));
        bytes = ReadBlob(layout_, image_.digest);
      }
      if (!bytes || Sha256(*bytes) != image_.digest)
        return std::unexpected(
            FailedPrecondition("it has changed since the job was created: it is no longer " + image_.digest +
                               "; submit the job again"));
      TY_RETURN_IF_ERROR(WriteBlob(layout_, image_.digest, *bytes));
    }
    return ParseManifest(*bytes);
  }

  Result<Config> FindConfig(const Manifest& manifest) {
    std::optional<std::string> bytes = ReadBlob(layout_, manifest.config.digest);
    if (!bytes) {
      TY_TRY(bytes, skopeo_.Inspect(reference_, access_, true, kInspectTimeout));
      if (Sha256(*bytes) != manifest.config.digest)
        return std::unexpected(Error{Code::kDataLoss, "its config does not match its digest", {}});
      TY_RETURN_IF_ERROR(WriteBlob(layout_, manifest.config.digest, *bytes));
    }
    return ParseConfig(*bytes);
  }

  /// What is left to fetch must fit; the unpacked layers need more space, but how much is unknown before.
  Status CheckSpace(const Manifest& manifest) const {
    std::int64_t missing = 0;
    std::error_code error;
    for (const Descriptor& layer : manifest.layers)
      if (!fs::exists(layout_.Blob(layer.digest), error)) missing += layer.size;
    struct statvfs disk{};
    if (::statvfs(layout_.Blobs().c_str(), &disk) != 0) return {};
    const auto free = static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
    if (missing <= free) return {};
    return std::unexpected(
        Error{Code::kResourceExhausted,
              "its layers need " + PrintBytes(missing) + " and the disk has " + PrintBytes(free) +
                  "; remove images that are not used (run: trainyard images remove --unused)",
              {}});
  }

  Result<std::vector<LayerRecord>> PullWithRetries(const Manifest& manifest, const Config& config) {
    LayersPull pull({.layout = layout_,
                     .reference = reference_,
                     .access = access_,
                     .hooks = hooks_,
                     .folder = layout_.Pull(image_.digest)},
                    skopeo_);
    for (int tried = 1;; ++tried) {
      Result<std::vector<LayerRecord>> layers = pull.Run(manifest, config);
      if (layers || hooks_.stop.stop_requested() || tried == kPullTriesMax ||
          !pull.CanTryAgain(layers.error()))
        return layers;
      Say("Pulling the image again: " + layers.error().message + ".");
      if (tried > 1) std::this_thread::sleep_for(kPullRetryWait);
    }
  }

  const CacheLayout& layout_;
  const Skopeo& skopeo_;
  const Reference& reference_;
  const RegistryAccess& access_;
  const ResolvedImage& image_;
  const PullHooks& hooks_;
};

Result<Image> PullLocked(const Sources& sources, const CacheLayout& layout, const ResolvedImage& image,
                         const Reference& reference, const PullHooks& hooks) {
  const std::optional<Note> note = ReadNote(layout, image.digest, image.reference);
  const RegistryAccess access = note ? note->access : AccessTo(sources, reference);
  const fs::path folder = layout.Pull(image.digest);
  std::ignore = RemoveTree(folder);
  TY_RETURN_IF_ERROR(MakeFolders(folder / "tmp"));
  TY_TRY(const Skopeo skopeo,
         Skopeo::Find({.temporary = folder / "tmp", .lock_fd = hooks.lock_fd, .stop = hooks.stop}));
  Result<CachedImage> pulled = Pulling(layout, skopeo, reference, access, image, hooks).Run();
  std::ignore = RemoveTree(folder);
  if (!pulled) return std::unexpected(std::move(pulled).error());
  if (note) pulled->names.push_back(note->name);
  TY_RETURN_IF_ERROR(WriteRecord(layout, *pulled));
  if (auto found = ImageOf(layout, *pulled)) return *std::move(found);
  return std::unexpected(Internal("it was removed while it was pulled"));
}

}  // namespace

std::optional<Image> FindImage(const std::string& images_dir, const std::string& digest) {
  const CacheLayout layout(images_dir);
  const std::optional<CachedImage> record = ReadRecord(layout, digest);
  return record ? ImageOf(layout, *record) : std::nullopt;
}

Result<Image> PullImage(const Sources& sources, const ResolvedImage& image, const PullHooks& hooks) {
  if (auto found = FindImage(sources.images_dir, image.digest)) return *std::move(found);
  const auto say = [&hooks](const std::string& line) {
    if (hooks.info) hooks.info(line);
  };
  TY_TRY(const Reference reference, ParseReference(image.reference));
  if (!IsSha256(image.digest))
    return std::unexpected(InvalidArgument({}, "'" + image.digest + "' is no digest"));
  const CacheLayout layout(sources.images_dir);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  const auto waiting = [&] { say("Image " + image.reference + " is being pulled already; waiting."); };
  TY_TRY(const BuildLock lock, BuildLock::Acquire(layout.Lock(image.digest), waiting, hooks.stop));
  if (auto found = FindImage(sources.images_dir, image.digest)) return *std::move(found);
  TY_TRY(const UniqueFd collecting, WaitForLock(layout.CollectLock(), LOCK_SH, {}, hooks.stop));
  RemoveLeftovers(layout);
  Result<Image> pulled = PullLocked(sources, layout, image, reference, hooks);
  if (!pulled)
    return std::unexpected(
        Error{pulled.error().code, "image " + image.reference + ": " + pulled.error().message, {}});
  return pulled;
}

}  // namespace trainyard::image
