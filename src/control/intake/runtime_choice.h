#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "programs/environment/catalogue.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Which runtime version a job gets that names one, an image, or nothing. Pure: any thread.
namespace trainyard::control {

/// An image (jobs::MatchesImage) and the runtime version that stands for it.
using ImageRuntime = std::pair<std::string, std::string>;

/// --image-runtime: "IMAGE=RUNTIME". kInvalidArgument if it is not that.
[[nodiscard]] Result<ImageRuntime> ParseImageRuntime(std::string_view text);

/// The operator's pairs, in their order, then those of the runtime versions: the first that matches counts.
[[nodiscard]] std::vector<ImageRuntime> ImageRuntimes(const environment::Catalogue& catalogue,
                                                      std::vector<ImageRuntime> of_operator);

/// The runtime version that stands for the image; empty if none does.
[[nodiscard]] std::string RuntimeFor(const std::vector<ImageRuntime>& images, std::string_view image);

struct RuntimeChoice {
  const environment::Catalogue& catalogue;
  const std::vector<ImageRuntime>& images;
  const std::string& version_default;  ///< for a job that names neither version nor image
  environment::FallbackPolicy fallback;
  const environment::AvailablePythons& pythons;
};

/// Whether any of its replicas does. Pure.
[[nodiscard]] bool AsksForGpus(const ml::v1::TrainingInput& input);

/// For a job whose master is a Python package in a runtime version. The resolution's note says so where the
/// job gets something else than what it names: an image is always something else. Whether
/// it gets the version's GPU variant is decided with its room (JobMaker::RuntimeFor). Errors: those of
/// Catalogue::Resolve; kInvalidArgument with the field of an image that stands for another version than the
/// master's: all replicas of a job share one. Images for which none stands are containers' (image_choice.h).
[[nodiscard]] Result<environment::Resolution> ChooseRuntime(const RuntimeChoice& choice,
                                                            const ml::v1::TrainingInput& input);

}  // namespace trainyard::control
