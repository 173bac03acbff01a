#include "jobs/validate.h"

#include "jobs/rules.h"

namespace trainyard::jobs {
namespace {

constexpr std::string_view kApi = "API description (discovery document)";
constexpr std::string_view kStarting = "public page \"starting a training job\"";
constexpr std::string_view kGpus = "public page \"using GPUs\"";
constexpr std::string_view kTpus = "public page \"using TPUs\"";
constexpr std::string_view kHere = "this installation";

constexpr Rule kRules[] = {
    {"job_id", kStarting, rules::JobIdForm},
    {"training_job", "this server runs training jobs", rules::IsTrainingJob},
    {"labels", "Google Cloud's rules for labels", rules::Labels},

    {"tpu_roles", kTpus, rules::TpuRoles},
    {"replicas", kApi, rules::Replicas},
    {"machine_categories", kApi, rules::MachineCategories},
    {"tpu_cluster", kTpus, rules::TpuCluster},
    {"tpu_accelerator", kTpus, rules::TpuAccelerator},
    {"accelerators", kGpus, rules::Accelerators},
    {"region", kApi, rules::RegionKnown},
    {"region_accelerators", kGpus, rules::RegionAccelerators},
    {"disks", kApi, rules::Disks},

    {"runtime_or_image", kApi, rules::RuntimeOrImage},
    {"container_fields", kApi, rules::ContainerFields},
    {"arguments", kApi, rules::Arguments},
    {"packages", kApi, rules::Packages},
    {"module", kApi, rules::Module},
    {"runtime_version", kApi, rules::RuntimeVersion},
    {"tpu_runtime", kTpus, rules::TpuRuntime},
    {"tpu_tf_version", kApi, rules::TpuTfVersion},
    {"job_dir", kStarting, rules::JobDir},

    {"scheduling", kApi, rules::Scheduling},
    {"network", kApi, rules::Network},
    {"service_account", kApi, rules::ServiceAccount},
    {"encryption_key", kApi, rules::EncryptionKey},
    {"tuning_spec", kApi, rules::TuningSpec},
    {"tuning_parameters", kApi, rules::TuningParameters},

    {"containers_here", kHere, rules::Containers},
    {"tuning_here", kHere, rules::Tuning},
    {"accelerators_here", kHere, rules::AcceleratorsHere},
    {"web_access_here", kHere, rules::WebAccess},
};

}  // namespace

std::span<const Rule> Rules() { return kRules; }

Status Validate(const ml::v1::Job& job, const ValidationContext& context) {
  for (const Rule& rule : kRules) TY_RETURN_IF_ERROR(rule.check(job, context));
  return {};
}

Status ValidateLabels(const ml::v1::Job& job) { return rules::Labels(job, {}); }

namespace rules {

std::unexpected<Error> Invalid(std::string_view field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

}  // namespace rules
}  // namespace trainyard::jobs
