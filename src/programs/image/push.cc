#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "programs/image/cache.h"
#include "programs/image/collect.h"
#include "programs/image/image_use.h"
#include "programs/image/load.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;

/// An OCI layout of one image whose blobs are the cache's.
Status WriteCachedLayout(const CacheLayout& layout, const std::string& digest, const fs::path& folder) {
  const std::optional<std::string> manifest = ReadBlob(layout, digest);
  if (!manifest)
    return std::unexpected(
        FailedPrecondition("its manifest is no longer in the cache; pull or load the image again"));
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteLayout(*manifest, digest, folder);
}

Result<std::string> DigestThere(const Skopeo& skopeo, Reference destination, const RegistryAccess& access) {
  TY_TRY(const std::string manifest, skopeo.Inspect(destination, access, false, std::chrono::minutes(1)));
  destination.digest = Sha256(manifest);
  return destination.Print();
}

}  // namespace

Result<std::string> PushImage(const Sources& sources, const std::string& source,
                              const std::string& destination, const PullHooks& hooks) {
  TY_TRY(const Reference to, ParseReference(destination));
  if (!to.IsRegistry() || !to.digest.empty())
    return std::unexpected(InvalidArgument({}, "'" + destination + "' is not a name and tag in a registry"));
  const CacheLayout layout(sources.images_dir);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(const OwnFolder folder, OwnFolder::Make(layout));
  TY_TRY(const Skopeo skopeo,
         Skopeo::Find({.temporary = folder.path(), .lock_fd = hooks.lock_fd, .stop = hooks.stop}));
  const RegistryAccess access = AccessTo(sources, to);
  const auto about = [&](const Error& error) {
    return std::unexpected(Error{error.code, "cannot push to " + to.Print() + ": " + error.message, {}});
  };
  const Result<Reference> from = ParseReference(source);
  Status pushed;
  if (from && !from->IsRegistry()) {
    pushed = skopeo.Push(*from, {}, {}, to, access);
  } else {
    TY_TRY(const ListedImage image, FindListed(sources.images_dir, source));
    TY_TRY(const ImageUse use, ImageUse::Begin(sources.images_dir, image.digest));
    if (Status written = WriteCachedLayout(layout, image.digest, folder.path() / "layout"); !written)
      return about(written.error());
    const Reference local{
        .transport = "oci", .name = (folder.path() / "layout").string(), .tag = "image", .digest = {}};
    pushed = skopeo.Push(local, {}, layout.Blobs(), to, access);
  }
  if (!pushed) return about(pushed.error());
  Result<std::string> there = DigestThere(skopeo, to, access);
  if (!there) return about(there.error());
  return there;
}

}  // namespace trainyard::image
