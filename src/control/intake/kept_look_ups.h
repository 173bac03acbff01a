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

/// What registries said of images a moment ago, for who looks at a job while it is being written: a form asks
/// at each pause of its writer, and registries count what they are asked. Jobs that are made ask anew. Any
/// thread.
class KeptLookUps {
 public:
  static constexpr std::chrono::seconds kLife{30};
  static constexpr std::size_t kImagesMax = 256;
  /// Who had less time than this, and was not answered, has learned nothing of the registry.
  static constexpr std::chrono::milliseconds kTimeMin{1'000};

  /// `clock` outlives it.
  explicit KeptLookUps(const Clock& clock) : clock_(clock) {}

  /// As `resolve`, or what it said within kLife, refusals and silence too. Blocks as it does.
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
