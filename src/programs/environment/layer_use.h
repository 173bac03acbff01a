#pragma once

#include <filesystem>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/environment/environment.h"

namespace trainyard::environment {

/// Marks a runtime version as used by programs for as long as this object lives, so that it is not removed.
/// It is a shared flock(2), so it ends when the process does. Any thread.
class RuntimeUse {
 public:
  /// Also records the time. Take it before looking for the environment. Errors: kNotFound for an unknown
  /// version, kUnavailable while it is being removed, and those of open(2).
  [[nodiscard]] static Result<RuntimeUse> Begin(const std::filesystem::path& environments_dir,
                                                std::string_view runtime_version);

 private:
  explicit RuntimeUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// The same as RuntimeUse for the layer of a job's packages. Any thread.
class LayerUse {
 public:
  /// The request must have packages. Also records the time. Take it after RuntimeUse and before looking for
  /// the environment; the layer need not be there yet. Errors: as RuntimeUse::Begin.
  [[nodiscard]] static Result<LayerUse> Begin(const EnvironmentRequest& request);

 private:
  explicit LayerUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::environment
