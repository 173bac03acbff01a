#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/suggestion.h"
#include "rules/algorithms/algorithm.h"
#include "rules/algorithms/check_arguments.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/images.h"
#include "rules/jobs/trial.h"
#include "rules/validation/rules.h"
#include "rules/validation/validate.h"

namespace trainyard::jobs {
namespace {

bool IsMapped(std::span<const std::string> mapped, std::string_view image) {
  return std::ranges::any_of(mapped,
                             [image](const std::string& pattern) { return MatchesImage(pattern, image); });
}

}  // namespace

const algorithms::v1::Algorithm* AlgorithmOf(const ml::v1::TrainingInput& input,
                                             std::span<const std::string> mapped) {
  const std::string& image = input.master_config().image_uri();
  return IsMapped(mapped, image) ? nullptr : algorithms::ForImage(image);
}

namespace rules {
namespace {

using algorithms::v1::Algorithm;
using ml::v1::ParameterSpec;
using ml::v1::TrainingInput;

std::string Known() {
  std::string list;
  for (const Algorithm& algorithm : algorithms::Algorithms())
    for (const std::string& image : algorithm.images())
      list += (list.empty() ? "" : ", ") + std::string(algorithms::kImageFolder) + image;
  return list;
}

/// Google's images are not in a registry any more, so an unknown one is not looked up.
Status CheckImages(const TrainingInput& input, const Algorithm* algorithm,
                   std::span<const std::string> mapped) {
  for (const cluster::Role& role : cluster::Roles(input)) {
    const std::string& image = role.config.image_uri();
    if (image.empty() || (algorithm != nullptr && algorithms::ForImage(image) == algorithm)) continue;
    const std::string field = std::string(role.field) + "_config.image_uri";
    if (algorithm != nullptr)
      return Invalid(field, "All replicas of the built-in algorithm " + algorithm->name() +
                                " run its image, and '" + image + "' is another one.");
    if (!algorithms::IsAlgorithmImage(image) || IsMapped(mapped, image)) continue;
    if (const auto* known = algorithms::ForImage(image))
      return Invalid(field, "The built-in algorithm " + known->name() +
                                " runs on all replicas of a job: the master names its image, too.");
    return Invalid(field,
                   "There is no built-in algorithm of the image '" + image + "'. There are: " + Known() +
                       ". The operator can give an image of another registry in its place: --image-map.");
  }
  return {};
}

Status CheckProgram(const TrainingInput& input, const Algorithm& algorithm) {
  const std::string own = "The built-in algorithm " + algorithm.name() + " has a program of its own: ";
  if (!input.package_uris().empty()) return Invalid("package_uris", own + "leave out the packages.");
  if (!input.python_module().empty()) return Invalid("python_module", own + "leave out the module.");
  for (const cluster::Role& role : cluster::Roles(input)) {
    const std::string prefix = std::string(role.field) + "_config.";
    if (!role.config.container_command().empty())
      return Invalid(prefix + "container_command", own + "leave out the command.");
    if (!role.config.container_args().empty())
      return Invalid(prefix + "container_args", own + "its arguments are in args.");
    if (!role.config.args().empty())
      return Invalid(prefix + "args", own + "its arguments are in the job's args.");
    if (!role.config.package_uris().empty())
      return Invalid(prefix + "package_uris", own + "leave out the packages.");
    if (!role.config.python_module().empty())
      return Invalid(prefix + "python_module", own + "leave out the module.");
  }
  if (input.job_dir().empty())
    return Invalid("job_dir", "This field is required for built-in algorithms: the model is written there.");
  return {};
}

algorithms::TunedArgument TunedBy(const ParameterSpec& param) {
  algorithms::TunedArgument tuned{.name = param.parameter_name()};
  switch (param.type()) {
    case ParameterSpec::DOUBLE:
    case ParameterSpec::INTEGER:
      tuned.values = {MetricText(param.min_value()), MetricText(param.max_value())};
      break;
    case ParameterSpec::DISCRETE:
      std::ranges::transform(param.discrete_values(), std::back_inserter(tuned.values), MetricText);
      break;
    default: tuned.values = {param.categorical_values().begin(), param.categorical_values().end()};
  }
  return tuned;
}

Status CheckArguments(const TrainingInput& input, const Algorithm& algorithm) {
  std::vector<algorithms::TunedArgument> tuned;
  const auto& params = input.hyperparameters().params();
  for (int i = 0; i < params.size(); ++i) {
    tuned.push_back(TunedBy(params[i]));
    const auto* argument = algorithms::FindArgument(algorithm, params[i].parameter_name());
    if (argument != nullptr && argument->required() && params[i].has_condition())
      return Invalid("hyperparameters.params[" + std::to_string(i) + "].condition",
                     "--" + argument->name() + " is required in every trial: leave out the condition.");
    if (argument != nullptr && argument->type() == "int" && params[i].type() == ParameterSpec::DOUBLE)
      return Invalid("hyperparameters.params[" + std::to_string(i) + "].type",
                     "--" + argument->name() + " takes whole numbers: the type must be INTEGER or DISCRETE.");
  }
  return algorithms::CheckArguments(algorithm, {input.args().begin(), input.args().end()}, tuned);
}

/// XGBoost's metrics may end with a number: ndcg@5.
/// @param field  of the tag
Status CheckTag(const std::string& tag, const std::string& field, const Algorithm& algorithm) {
  std::vector<std::string_view> tags;
  std::string list;
  for (const auto& metric : algorithm.metrics()) {
    tags.push_back(metric.tag());
    list += (list.empty() ? "" : ", ") + metric.tag();
  }
  if (std::ranges::find(tags, tag.substr(0, tag.find('@'))) != tags.end()) return {};
  const std::string_view nearest = text::Suggest(tag, tags);
  return Invalid(field,
                 (tag.empty() ? "This field is required for built-in algorithms."
                              : "The algorithm " + algorithm.name() + " has no metric '" + tag + "'.") +
                     (nearest.empty() ? "" : " Did you mean '" + std::string(nearest) + "'?") +
                     " Its metrics are " + list + ".");
}

Status CheckMetrics(const TrainingInput& input, const Algorithm& algorithm) {
  if (!input.has_hyperparameters()) return {};
  const ml::v1::HyperparameterSpec& spec = input.hyperparameters();
  const std::string kTag = "hyperparameter_metric_tag";
  TY_RETURN_IF_ERROR(CheckTag(spec.hyperparameter_metric_tag(), "hyperparameters." + kTag, algorithm));
  for (int i = 0; i < spec.further_metrics_size(); ++i)
    TY_RETURN_IF_ERROR(CheckTag(spec.further_metrics(i).hyperparameter_metric_tag(),
                                "hyperparameters.further_metrics[" + std::to_string(i) + "]." + kTag,
                                algorithm));
  return {};
}

Status CheckMachines(const TrainingInput& input, const Algorithm& algorithm) {
  const auto groups = cluster::Groups(input);
  if (!groups) return {};
  const bool by_tier = input.scale_tier() != TrainingInput::CUSTOM;
  if (IsTpuJob(input)) {
    if (algorithm.tpus()) return {};
    return Invalid(by_tier ? "scale_tier" : "worker_type",
                   "The algorithm " + algorithm.name() + " does not run on TPUs.");
  }
  const auto has = [&groups](replica::v1::TaskType type) {
    return std::ranges::find(*groups, type, &cluster::ReplicaGroup::type) != groups->end();
  };
  const bool spreads = algorithm.workers() != "none";
  if (spreads && !has(replica::v1::WORKER))
    return Invalid(by_tier ? "scale_tier" : "worker_count",
                   "The algorithm " + algorithm.name() + " needs a master and at least one worker.");
  for (const cluster::ReplicaGroup& group : *groups) {
    if (group.type == replica::v1::MASTER || (spreads && group.type == replica::v1::WORKER)) continue;
    const std::string role(
        cluster::Roles(input)[static_cast<std::size_t>(group.type - replica::v1::MASTER)].field);
    return Invalid(by_tier ? "scale_tier" : role + "_count",
                   "The algorithm " + algorithm.name() +
                       (spreads ? " runs on a master and workers alone."
                                : " is not distributed: it runs on a master alone."));
  }
  return {};
}

}  // namespace

Status Algorithm(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  const auto* algorithm = AlgorithmOf(input, context.mapped_images);
  TY_RETURN_IF_ERROR(CheckImages(input, algorithm, context.mapped_images));
  if (algorithm == nullptr) return {};
  TY_RETURN_IF_ERROR(CheckProgram(input, *algorithm));
  TY_RETURN_IF_ERROR(CheckMachines(input, *algorithm));
  return CheckArguments(input, *algorithm);
}

Status AlgorithmTuning(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  const auto* algorithm = AlgorithmOf(input, context.mapped_images);
  return algorithm == nullptr ? Status{} : CheckMetrics(input, *algorithm);
}

}  // namespace rules
}  // namespace trainyard::jobs
