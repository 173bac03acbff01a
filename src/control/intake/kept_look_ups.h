#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <stop_token>
#include <string>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "control/intake/image_lookups.h"

namespace trainyard::control {

/// Caches answers of registries for Check: a form asks at each pause while a job is being written, and
/// registries limit the number of requests. Create does not use it. Any thread.
class KeptLookUps {
 public:
  static constexpr std::chrono::seconds kLife{30};
  static constexpr std::size_t kImagesMax = 256;
  /// If a look-up had less time than this and got no answer, that is not cached.
  static constexpr std::chrono::milliseconds kTimeMin{1'000};

  /// `clock` outlives it.
  explicit KeptLookUps(const Clock& clock) : clock_(clock) {}

  /// As `resolve`, or its result within the last kLife, including refusals and timeouts. Blocks as it does.
  [[nodiscard]] Result<image::ResolvedImage> Resolve(const ImageResolver& resolve, const std::string& image,
                                                     std::chrono::milliseconds timeout,
                                                     const std::stop_token& stop);

 private:
  struct Kept {
    SysTime since;
    Result<image::ResolvedImage> said;
  };
  using Images = std::map<std::string, Kept>;

  const Clock& clock_;
  Guarded<Images> images_;
};

}  // namespace trainyard::control
