#include "programs/image/image_use.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "programs/image/cache.h"

namespace trainyard::image {

namespace {

/// Listing or collecting images holds the lock for an instant; removing the image, until its record is
/// removed.
constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kPause{10};

}  // namespace

Result<ImageUse> ImageUse::Begin(const std::string& images_dir, const std::string& digest) {
  if (!IsSha256(digest))
    return std::unexpected(InvalidArgument({}, "'" + digest + "' is no digest of an image"));
  const CacheLayout layout(images_dir);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  const auto until = std::chrono::steady_clock::now() + kPatience;
  TY_TRY(std::optional<UniqueFd> file, TryLock(layout.Use(digest), LOCK_SH));
  while (!file && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kPause);  // flock(2) has no wait that ends after a while
    TY_TRY(file, TryLock(layout.Use(digest), LOCK_SH));
  }
  if (!file) return std::unexpected(Unavailable("image " + digest + " is being removed"));
  ::futimens(file->get(), nullptr);  // the time is informational
  return ImageUse(*std::move(file));
}

}  // namespace trainyard::image
