#include "control/intake/runtime_choice.h"

#include <algorithm>

#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/images.h"

namespace trainyard::control {

namespace {

using environment::Resolution;
using ml::v1::TrainingInput;

Status CheckOthers(const RuntimeChoice& choice, const TrainingInput& input, const std::string& version) {
  for (const cluster::Role& role : cluster::Roles(input)) {
    const std::string& image = role.config.image_uri();
    if (image.empty()) continue;
    const std::string other = RuntimeFor(choice.images, image);
    if (other.empty() || other == version) continue;
    return std::unexpected(InvalidArgument(std::string(role.field) + "_config.image_uri",
                                           "The image stands for runtime version " + other +
                                               ", the master's for " + version +
                                               ": all replicas of a job with a Python package share one."));
  }
  return {};
}

bool ComesWith(const environment::RuntimeVersion* runtime, const std::string& python) {
  return python.empty() ||
         (runtime != nullptr && std::ranges::find(runtime->pythons, python) != runtime->pythons.end());
}

}  // namespace

bool AsksForGpus(const TrainingInput& input) {
  const auto replicas = cluster::Expand(input);
  return replicas && std::ranges::any_of(*replicas, [](const cluster::ReplicaPlan& replica) {
           return replica.accelerators.count > 0 && cluster::IsGpu(replica.accelerators.type);
         });
}

Result<ImageRuntime> ParseImageRuntime(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return std::unexpected(
        InvalidArgument("--image-runtime", "'" + std::string(text) + "' is not IMAGE=RUNTIME"));
  return ImageRuntime(text.substr(0, equals), text.substr(equals + 1));
}

std::string RuntimeFor(const std::vector<ImageRuntime>& images, std::string_view image) {
  for (const auto& [pattern, version] : images)
    if (jobs::MatchesImage(pattern, image)) return version;
  return {};
}

std::vector<ImageRuntime> ImageRuntimes(const environment::Catalogue& catalogue,
                                        std::vector<ImageRuntime> of_operator) {
  for (const environment::RuntimeVersion& runtime : catalogue.versions())
    for (const std::string& image : runtime.images) of_operator.emplace_back(image, runtime.version);
  return of_operator;
}

Result<Resolution> ChooseRuntime(const RuntimeChoice& choice, const TrainingInput& input) {
  const std::string& image = input.master_config().image_uri();
  std::string asked = image.empty() ? input.runtime_version() : RuntimeFor(choice.images, image);
  if (!image.empty()) TY_RETURN_IF_ERROR(CheckOthers(choice, input, asked));
  // An image includes its Python version.
  const std::string python = image.empty() ? input.python_version() : std::string();
  if (asked.empty() && ComesWith(choice.catalogue.Find(choice.version_default), python))
    asked = choice.version_default;  // else Resolve finds the newest version that comes with the Python
  TY_TRY(Resolution resolution, choice.catalogue.Resolve(asked, python, choice.fallback, choice.pythons));
  if (!image.empty() && resolution.note.empty())
    resolution.note = "the image " + image + " is not pulled; running with runtime version " +
                      resolution.version + " (Python " + resolution.python + ") instead";
  return resolution;
}

}  // namespace trainyard::control
