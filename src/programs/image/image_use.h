#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::image {

/// Marks an image as used for as long as it lives, so that it is not removed. A shared flock(2), so it ends
/// with the process, however that ends. Any thread.
class ImageUse {
 public:
  /// Also records the time. Take it before FindImage, and use the image only while it is held. Waits at most
  /// a second, because a check for use holds the lock for an instant. Errors: kUnavailable while it is being
  /// removed, kInvalidArgument if `digest` is no digest, and those of open(2).
  [[nodiscard]] static Result<ImageUse> Begin(const std::string& images_dir, const std::string& digest);

  /// May be inherited by child processes: the image is used as long as one of them lives.
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  explicit ImageUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::image
