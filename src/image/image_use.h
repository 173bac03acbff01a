#pragma once

#include <string>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::image {

/// Says, for as long as it lives, that an image is used: nobody removes it then. A shared flock(2), so it
/// ends with the process, whatever ends it. Any thread.
class ImageUse {
 public:
  /// Notes the time, too. To be taken before the image is looked for (FindImage), which is not to be used
  /// without. Waits for at most a second, for one who just looks whether it is used. Errors: kUnavailable
  /// while it is being removed, kInvalidArgument for what is no digest, and those of open(2).
  [[nodiscard]] static Result<ImageUse> Begin(const std::string& images_dir, const std::string& digest);

  /// Stays open in those who inherit it: an image is used as long as one of them lives.
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  explicit ImageUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::image
