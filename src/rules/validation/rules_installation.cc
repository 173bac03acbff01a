#include <algorithm>

#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/image_reference.h"
#include "rules/validation/rules.h"
#include "rules/validation/validate.h"

namespace trainyard::jobs::rules {
namespace {

using cluster::Role;
using cluster::Roles;
using ml::v1::TrainingInput;

std::unexpected<Error> Missing(std::string_view field, std::string text) {
  return std::unexpected(FailedPrecondition(std::move(text), field));
}

bool HasRuntime(const std::string& image, const ValidationContext& context) {
  return std::ranges::any_of(context.runtime_images,
                             [&](const std::string& pattern) { return MatchesImage(pattern, image); });
}

}  // namespace

Status Containers(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  if (context.containers || AlgorithmOf(input, context.mapped_images) != nullptr) return {};
  const bool has_package = !input.package_uris().empty() && !input.python_module().empty();
  const bool in_runtime = has_package && HasRuntime(input.master_config().image_uri(), context);
  for (const Role& role : Roles(input)) {
    const std::string& image = role.config.image_uri();
    if (image.empty()) continue;
    if (in_runtime && HasRuntime(image, context)) continue;
    return Missing(std::string(role.field) + "_config.image_uri",
                   "This server does not run containers. " + context.no_containers +
                       (context.no_containers.empty() ? "" : " ") +
                       "A Python package (package_uris and python_module) runs without an image.");
  }
  return {};
}

Status Tuning(const Job& job, const ValidationContext& context) {
  if (context.tuning || !job.training_input().has_hyperparameters()) return {};
  return Missing("hyperparameters", "This server does not tune hyperparameters. Submit a job without them.");
}

Status AcceleratorsHere(const Job& job, const ValidationContext& context) {
  const auto groups = cluster::Groups(job.training_input());
  if (!groups) return {};
  for (const cluster::ReplicaGroup& group : *groups) {
    const auto type = group.accelerators.type;
    if (group.accelerators.count == 0 || (cluster::IsGpu(type) ? context.gpus : context.tpus)) continue;
    if (cluster::IsTpu(type) && AlgorithmOf(job.training_input(), context.mapped_images) != nullptr)
      continue;  // it trains without
    return Missing(cluster::AcceleratorField(job.training_input(), group.type),
                   "This server has no " + std::string(cluster::IsGpu(type) ? "GPUs" : "TPUs") +
                       ": the job asks for " + std::to_string(group.accelerators.count) + " " +
                       ml::v1::AcceleratorConfig::Type_Name(type) + " in a machine of type " +
                       std::string(group.machine->name) + ".");
  }
  return {};
}

}  // namespace trainyard::jobs::rules
