#include "rules/validation/validate.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "rules/validation/rules.h"

namespace trainyard::jobs {
namespace {

constexpr std::string_view kApi = "API description (discovery document)";
constexpr std::string_view kStarting = "public page \"starting a training job\"";
constexpr std::string_view kGpus = "public page \"using GPUs\"";
constexpr std::string_view kTpus = "public page \"using TPUs\"";
constexpr std::string_view kLabels = "Google Cloud's rules for labels";
constexpr std::string_view kTuning = "API description, HyperparameterSpec and ParameterSpec";
constexpr std::string_view kOwn = "Trainyard's own field";
constexpr std::string_view kAlgorithms = "public pages \"built-in algorithms\"";
constexpr std::string_view kHere = "this installation";

template <Status (*rule)(const ml::v1::Job&, const ValidationContext&)>
Violations One(const ml::v1::Job& job, const ValidationContext& context) {
  Status status = rule(job, context);
  if (status) return {};
  return {std::move(status).error()};
}

constexpr ValidationRule kRules[] = {
    {"job_id",
     "an id that does not begin with a letter, has other characters than letters, digits and `_`, or is "
     "longer than 128",
     kStarting, One<rules::JobIdForm>, ""},
    {"training_job", "a job without `trainingInput`, or with `predictionInput`",
     "this server runs training jobs", One<rules::IsTrainingJob>, ""},
    {"labels",
     "more than 64 labels; keys and values beyond 63 lower-case letters, digits, `_` and `-`; keys "
     "that do not begin with a letter",
     kLabels, One<rules::Labels>, ""},
    {"display_name", "a display name of more than 128 characters", kOwn, One<rules::DisplayName>, ""},

    {"tpu_roles", "`cloud_tpu` as the type of a master, parameter server or evaluator", kTpus,
     One<rules::TpuRoles>},
    {"replicas",
     "CUSTOM without `masterType`; a count without its type, or a type without its count; counts with "
     "another tier; unknown machine types; negative counts; more than 1000 replicas",
     kApi, One<rules::Replicas>},
    {"machine_categories", "Compute Engine and legacy machine types in one job (`cloud_tpu` goes with both)",
     kApi, One<rules::MachineCategories>, "replicas"},
    {"tpu_cluster", "a TPU job with more than one worker, or with parameter servers", kTpus,
     One<rules::TpuCluster>},
    {"tpu_accelerator",
     "a `cloud_tpu` worker with another accelerator than TPU_V2 or TPU_V3, not exactly 8 of them, or "
     "together with a legacy master",
     kTpus, One<rules::TpuAccelerator>, "replicas"},
    {"accelerators",
     "accelerators without type or count, of a type or number that the GPU table does not list for the "
     "machine type, on legacy machine types, with another tier than CUSTOM, for replicas that the job does "
     "not have; TPUs except on `cloud_tpu` workers and the TPU machines of Vertex AI",
     kGpus, rules::Accelerators, "tpu_accelerator"},
    {"region", "no region, or one that the original did not train in", kApi, One<rules::RegionKnown>},
    {"region_accelerators", "a region that is known not to have the accelerators", kGpus,
     One<rules::RegionAccelerators>, "accelerators"},
    {"accelerator_zone", "GPU types that are known not to be in the same zone of the region", kGpus,
     One<rules::AcceleratorZone>, "accelerators"},
    {"disks", "a disk type other than `pd-ssd` and `pd-standard`; a size below 0 or above 65536 GB", kApi,
     rules::Disks},

    {"image", "an `imageUri` that is not the name of a container image", "the grammar of image references",
     rules::Image},
    {"runtime_or_image", "`runtimeVersion` together with `masterConfig.imageUri`", kApi,
     One<rules::RuntimeOrImage>},
    {"container_fields",
     "`containerCommand` or `containerArgs` without an image, together with `args` of the job or the role, "
     "or "
     "with a NUL character",
     kApi, One<rules::ContainerFields>},
    {"arguments", "`args` of the job or a role with a NUL character, or of more than 64 KiB", kApi,
     One<rules::Arguments>},
    {"packages",
     "no package and no image; more than 100 packages, of the job or a role; a URI that is not "
     "`gs://bucket/object`; packages without `pythonModule`; a role's packages together with "
     "`containerCommand` or `containerArgs`",
     kApi, rules::Packages},
    {"module",
     "no module and no image; a text that cannot be the name of a module; a role's `pythonModule` "
     "without its own packages in a job that has none, or together with `containerCommand` or "
     "`containerArgs`",
     kApi, One<rules::Module>},
    {"runtime_version", "a runtime version that does not exist or does not come with `pythonVersion`", kApi,
     One<rules::RuntimeVersion>},
    {"tpu_runtime", "a TPU job with one of the runtime versions 2.3 to 2.11, which had no TPUs", kTpus,
     One<rules::TpuRuntime>},
    {"tpu_tf_version",
     "no `tpuTfVersion` if a TPU worker has a custom container, a version without TPU support, or "
     "`tpuTfVersion` anywhere else",
     kApi, One<rules::TpuTfVersion>},
    {"job_dir", "a `jobDir` that is not `gs://bucket` or `gs://bucket/object`; none with `jobDirAsVariable`",
     kStarting, One<rules::JobDir>},
    {"program_variables",
     "an unknown value; an `outputUriPrefix` that is not `gs://bucket` or `gs://bucket/object`, or without "
     "VERTEX_AI",
     kOwn, One<rules::ProgramVariables>},
    {"algorithm",
     "an image of the built-in algorithms that does not exist; with such an image: packages, a module, a "
     "command, arguments of a role, replicas with another image, no `jobDir`, workers and TPUs that the "
     "algorithm does not "
     "support; `args` and tuned parameters that it does not have",
     kAlgorithms, One<rules::Algorithm>},

    {"variables",
     "more than 100 variables (`env` of the job or a role), or more than 32 KiB of them; a name that is not "
     "a C identifier, is given twice, or is set by the service; a value with a NUL character; a secret "
     "without a value, or with one too short to be hidden in a log; a secret of a role",
     kOwn, rules::Variables},
    {"scheduling", "`maxRunningTime` of 0s or less, `maxWaitTime` below 1800s, `priority` outside 0 to 1000",
     kApi, rules::Scheduling},
    {"network", "a text that is not `projects/NUMBER/global/networks/NAME`", kApi, One<rules::Network>},
    {"service_account", "a text that is not an email address", kApi, One<rules::ServiceAccount>},
    {"encryption_key", "a text that is not the full name of a key, or a key of another region than the job's",
     kApi, One<rules::EncryptionKey>, "region"},
    {"tuning_spec",
     "no parameters, unless the job resumes another; negative numbers of trials; a tag with control "
     "characters; further metrics without tag or goal, with a tag used before, or more than 4; a "
     "`resumePreviousJobId` that is not a job id",
     kTuning, rules::TuningSpec},
    {"tuning_parameters",
     "parameters without name or type, or with a name used before; bounds that are missing, crossed, "
     "infinite, or not whole for INTEGER; bounds, a scale, no values or repeated values for CATEGORICAL; "
     "values that are missing, more than 1000 or not distinct for DISCRETE; log scales of ranges that are "
     "not strictly positive; DOUBLE with GRID_SEARCH; a condition on a parameter that does not stand before "
     "this one, that is a DOUBLE, that has no such value, or that depends on 8 others, one upon the next",
     kTuning, rules::TuningParameters},
    {"algorithm_tuning", "a tag that is not a metric of the built-in algorithm", kAlgorithms,
     One<rules::AlgorithmTuning>},
    {"size", "a job whose TF_CONFIG, which repeats all of its fields, would be larger than 128 KiB",
     "Linux's limit for an environment variable", One<rules::Size>},

    {"containers_here", "images, if the server does not run containers", kHere, One<rules::Containers>},
    {"tuning_here", "`hyperparameters`, if the server does not tune", kHere, One<rules::Tuning>},
    {"accelerators_here", "GPUs and TPUs, if the server has none and jobs do not wait for them", kHere,
     One<rules::AcceleratorsHere>, "accelerators"},
};

}  // namespace

std::span<const ValidationRule> ValidationRules() { return kRules; }

Status Validate(const ml::v1::Job& job, const ValidationContext& context) {
  for (const ValidationRule& rule : kRules) {
    Violations found = rule.check(job, context);
    if (!found.empty()) return std::unexpected(std::move(found.front()));
  }
  return {};
}

Violations FindViolations(const ml::v1::Job& job, const ValidationContext& context) {
  Violations all;
  std::set<std::string_view> broken;
  for (const ValidationRule& rule : kRules) {
    Violations found;
    if (!broken.contains(rule.needs)) found = rule.check(job, context);
    if (!found.empty() || broken.contains(rule.needs)) broken.insert(rule.name);
    std::ranges::move(found, std::back_inserter(all));
  }
  return all;
}

Status ValidateLabels(const ml::v1::Job& job) { return rules::Labels(job, {}); }

namespace rules {

void Add(Status status, Violations& found) {
  if (!status) found.push_back(std::move(status).error());
}

std::unexpected<Error> Invalid(std::string_view field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

}  // namespace rules
}  // namespace trainyard::jobs
