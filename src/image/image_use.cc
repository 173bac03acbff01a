#include "image/image_use.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

#include "image/cache.h"

namespace trainyard::image {

Result<ImageUse> ImageUse::Begin(const std::string& images_dir, const std::string& digest) {
  if (!IsSha256(digest))
    return std::unexpected(InvalidArgument({}, "'" + digest + "' is no digest of an image"));
  const CacheLayout layout(images_dir);
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(std::optional<UniqueFd> file, TryLock(layout.Use(digest), LOCK_SH));
  if (!file) return std::unexpected(Unavailable("image " + digest + " is being removed"));
  ::futimens(file->get(), nullptr);  // the time is a remark only
  return ImageUse(*std::move(file));
}

}  // namespace trainyard::image
