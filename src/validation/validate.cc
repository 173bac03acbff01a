#include "validation/validate.h"

#include "validation/rules.h"

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

constexpr ValidationRule kRules[] = {
    {"job_id",
     "an id that does not begin with a letter, has anything but letters, digits and `_`, or more "
     "than 128 of them",
     kStarting, rules::JobIdForm},
    {"training_job", "a job without `trainingInput`, or with `predictionInput`",
     "this server runs training jobs", rules::IsTrainingJob},
    {"labels",
     "more than 64 labels; keys and values beyond 63 lower-case letters, digits, `_` and `-`; keys "
     "that do not begin with a letter",
     kLabels, rules::Labels},

    {"tpu_roles", "`cloud_tpu` as the type of a master, parameter server or evaluator", kTpus,
     rules::TpuRoles},
    {"replicas",
     "CUSTOM without `masterType`; a count without its type and a type without its count; counts "
     "beside another tier; unknown machine types; negative counts; more than 1000 replicas",
     kApi, rules::Replicas},
    {"machine_categories", "Compute Engine and legacy machine types in one job (`cloud_tpu` goes with both)",
     kApi, rules::MachineCategories},
    {"tpu_cluster", "a TPU job with more than one worker, or with parameter servers", kTpus,
     rules::TpuCluster},
    {"tpu_accelerator",
     "a `cloud_tpu` worker with anything but TPU_V2 or TPU_V3, not exactly 8 of them, or beside a "
     "legacy master",
     kTpus, rules::TpuAccelerator},
    {"accelerators",
     "accelerators without type or count, of a type or number that the GPU table does not have for "
     "the machine type, on legacy machine types, beside another tier than CUSTOM, for replicas "
     "that the job does not have; TPUs anywhere but on `cloud_tpu` workers",
     kGpus, rules::Accelerators},
    {"region", "no region, or one that the original did not train in", kApi, rules::RegionKnown},
    {"region_accelerators", "a region that is known not to have the accelerators", kGpus,
     rules::RegionAccelerators},
    {"accelerator_zone", "GPU types that are known to be in no single zone of the region together", kGpus,
     rules::AcceleratorZone},
    {"disks", "a disk type other than `pd-ssd` and `pd-standard`; sizes below 0 and above 65536 GB", kApi,
     rules::Disks},

    {"image", "an `imageUri` that is not the name of a container image", "the grammar of image references",
     rules::Image},
    {"runtime_or_image", "`runtimeVersion` beside `masterConfig.imageUri`", kApi, rules::RuntimeOrImage},
    {"container_fields",
     "`containerCommand` or `containerArgs` without an image, beside `args`, or with a NUL "
     "character",
     kApi, rules::ContainerFields},
    {"arguments", "`args` with a NUL character, or of more than 64 KiB", kApi, rules::Arguments},
    {"packages",
     "no package and no image; more than 100 packages; a URI that is not `gs://bucket/object`; "
     "packages without `pythonModule`",
     kApi, rules::Packages},
    {"module", "no module and no image; what cannot be the name of a module", kApi, rules::Module},
    {"runtime_version", "a runtime version that does not exist or does not come with `pythonVersion`", kApi,
     rules::RuntimeVersion},
    {"tpu_runtime", "a TPU job with one of the runtime versions 2.3 to 2.11, which had no TPUs", kTpus,
     rules::TpuRuntime},
    {"tpu_tf_version",
     "no `tpuTfVersion` where a TPU worker has a custom container, one without TPU support, or one "
     "anywhere else",
     kApi, rules::TpuTfVersion},
    {"job_dir", "a `jobDir` that is not `gs://bucket` or `gs://bucket/object`", kStarting, rules::JobDir},
    {"algorithm",
     "an image of the built-in algorithms that there is not; beside such an image: packages, a module, a "
     "command, replicas with another one, no `jobDir`, workers and TPUs where the algorithm takes none; "
     "`args` and tuned parameters that it does not take",
     kAlgorithms, rules::Algorithm},

    {"variables",
     "more than 100 variables (`env`), or more than 32 KiB of them; a name that is no identifier of C, is "
     "given "
     "twice, or is one that the service sets; a value with a NUL character; a secret without a value, or "
     "with "
     "one too short to be hidden in a log",
     kOwn, rules::Variables},
    {"scheduling", "`maxRunningTime` of 0s or less, `maxWaitTime` below 1800s, `priority` outside 0 to 1000",
     kApi, rules::Scheduling},
    {"network", "what is not `projects/NUMBER/global/networks/NAME`", kApi, rules::Network},
    {"service_account", "what is not an email address", kApi, rules::ServiceAccount},
    {"encryption_key", "what is not the full name of a key, and a key of another region than the job's", kApi,
     rules::EncryptionKey},
    {"tuning_spec",
     "no parameters, unless it resumes a job; negative numbers of trials; a tag with control characters; "
     "`resumePreviousJobId` that is no id",
     kTuning, rules::TuningSpec},
    {"tuning_parameters",
     "parameters without name or type, or with a name used before; bounds that are missing, "
     "crossed, infinite, or not whole for INTEGER; bounds, a scale, no values or doubled values "
     "for CATEGORICAL; values that are missing, more than 1000 or not distinct for "
     "DISCRETE; log scales of ranges that are not strictly positive; DOUBLE with GRID_SEARCH",
     kTuning, rules::TuningParameters},
    {"algorithm_tuning", "a tag that is no metric of the built-in algorithm", kAlgorithms,
     rules::AlgorithmTuning},
    {"size", "a job whose TF_CONFIG, which repeats all of its fields, would have more than 128 KiB",
     "Linux's limit for an environment variable", rules::Size},

    {"containers_here", "images, where the server does not run containers", kHere, rules::Containers},
    {"tuning_here", "`hyperparameters`, where the server does not tune", kHere, rules::Tuning},
    {"accelerators_here", "GPUs and TPUs, where the server has none and jobs do not wait for them", kHere,
     rules::AcceleratorsHere},
};

}  // namespace

std::span<const ValidationRule> ValidationRules() { return kRules; }

Status Validate(const ml::v1::Job& job, const ValidationContext& context) {
  for (const ValidationRule& rule : kRules) TY_RETURN_IF_ERROR(rule.check(job, context));
  return {};
}

Status ValidateLabels(const ml::v1::Job& job) { return rules::Labels(job, {}); }

namespace rules {

std::unexpected<Error> Invalid(std::string_view field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

}  // namespace rules
}  // namespace trainyard::jobs
