#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "programs/environment/catalogue.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The runtime version of a job that names a version, an image, or neither. Pure: any thread.
namespace trainyard::control {

/// An image (jobs::MatchesImage) and the runtime version that is used instead of it.
using ImageRuntime = std::pair<std::string, std::string>;

/// --image-runtime: "IMAGE=RUNTIME". kInvalidArgument if it is not that.
[[nodiscard]] Result<ImageRuntime> ParseImageRuntime(std::string_view text);

/// The operator's pairs, in their order, then those of the runtime versions: the first match is used.
[[nodiscard]] std::vector<ImageRuntime> ImageRuntimes(const environment::Catalogue& catalogue,
                                                      std::vector<ImageRuntime> of_operator);

/// The runtime version to use instead of the image; empty if there is none.
[[nodiscard]] std::string RuntimeFor(const std::vector<ImageRuntime>& images, std::string_view image);

struct RuntimeChoice {
  const environment::Catalogue& catalogue;
  const std::vector<ImageRuntime>& images;
  const std::string& version_default;  ///< for a job that names neither version nor image
  environment::FallbackPolicy fallback;
  const environment::AvailablePythons& pythons;
};

/// Whether any of its replicas asks for GPUs. Pure.
[[nodiscard]] bool AsksForGpus(const ml::v1::TrainingInput& input);

/// For a job whose master is a Python package in a runtime version. A job that names only a Python gets the
/// default version, or, if that does not come with it, the newest one that does. If the job does not get what
/// it names, the resolution's note says so: always for an image. Whether it gets the version's GPU variant is
/// decided when resources are granted (JobMaker::RuntimeFor). Errors: those of Catalogue::Resolve;
/// kInvalidArgument with the field of an image that maps to another version than the master's: all replicas
/// of a job share one. Images without a runtime version run in containers (image_choice.h).
[[nodiscard]] Result<environment::Resolution> ChooseRuntime(const RuntimeChoice& choice,
                                                            const ml::v1::TrainingInput& input);

}  // namespace trainyard::control
