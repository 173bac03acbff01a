#pragma once

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/environment/environment.h"

namespace trainyard::environment {

/// The same as RuntimeUse for the layer of a job's packages. Any thread.
class LayerUse {
 public:
  /// The request has packages. Notes the time, too. Take it after RuntimeUse and before looking for the
  /// environment; the layer need not be there yet. Errors: as RuntimeUse::Begin.
  [[nodiscard]] static Result<LayerUse> Begin(const EnvironmentRequest& request);

 private:
  explicit LayerUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::environment
