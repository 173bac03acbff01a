#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/number.h"
#include "rules/algorithms/algorithm.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/role.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

using ml::v1::AcceleratorConfig;
using ml::v1::TrainingInput;

/// Versions with TPU support. Source: public page "using TPUs".
constexpr std::string_view kTpuVersions[] = {"1.13", "1.14", "1.15", "2.1", "2.2"};
constexpr std::string_view kTpuVersionsText = "1.13, 1.14, 1.15, 2.1, 2.2";

bool SupportsTpu(std::string_view version) {
  return std::ranges::find(kTpuVersions, version) != std::end(kTpuVersions);
}

/// Versions after Google's last one, 2.11, exist only on this server; their TensorFlow is not checked.
bool IsOwnVersion(std::string_view version) {
  constexpr int kMinorLast = 11;
  int minor = 0;
  if (!version.starts_with("2.")) return false;
  version.remove_prefix(2);
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  return error == std::errc{} && minor > kMinorLast;
}

/// Versions before the first of the list had TPUs until their support ended (spec cluster.md section 6), and
/// configurations of those years still name them. No matching Python can be installed any more, so they are
/// always replaced by a later version, which the job's log names.
bool IsReplacedVersion(std::string_view version) {
  constexpr int kMinorFirst = 13;
  if (!version.starts_with("1.")) return false;
  const std::optional<int> minor = WholeNumber<int>(version.substr(2));
  return minor && *minor < kMinorFirst;
}

/// Whether the worker runs an image, its own or the master's. Images of the built-in algorithms belong to the
/// service, so users need not name their TensorFlow version (spec algorithms.md section 1).
bool WorkerHasCustomImage(const TrainingInput& input) {
  const std::string& own = input.worker_config().image_uri();
  const std::string& image = own.empty() ? input.master_config().image_uri() : own;
  return !image.empty() && !algorithms::IsAlgorithmImage(image);
}

}  // namespace

bool IsTpuJob(const TrainingInput& input) {
  return input.scale_tier() == TrainingInput::BASIC_TPU ||
         (input.scale_tier() == TrainingInput::CUSTOM && input.worker_type() == "cloud_tpu");
}

Status TpuCluster(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!IsTpuJob(input) || input.scale_tier() != TrainingInput::CUSTOM) return {};
  if (input.worker_count() != 1)
    return Invalid("worker_count", "A job with the worker type cloud_tpu has exactly one worker.");
  if (input.parameter_server_count() > 0) {
    return Invalid("parameter_server_count", "Parameter servers are not supported in TPU training jobs.");
  }
  return {};
}

Status TpuAccelerator(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!IsTpuJob(input) || input.scale_tier() != TrainingInput::CUSTOM) return {};
  const AcceleratorConfig& config = input.worker_config().accelerator_config();
  if (config.type() == AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED && config.count() == 0) return {};
  const cluster::MachineType* master = cluster::FindMachineType(input.master_type());
  if (master == nullptr || master->category != cluster::MachineType::Category::kComputeEngine) {
    return Invalid(
        "worker_config.accelerator_config",
        "accelerator_config of a cloud_tpu worker needs a Compute Engine machine type as master_type.");
  }
  if (config.type() != AcceleratorConfig::TPU_V2 && config.type() != AcceleratorConfig::TPU_V3) {
    return Invalid("worker_config.accelerator_config.type",
                   "A cloud_tpu worker can have TPU_V2 or TPU_V3 accelerators.");
  }
  constexpr std::int64_t kCores = 8;
  if (config.count() != kCores) {
    return Invalid("worker_config.accelerator_config.count", "A cloud_tpu worker has exactly 8 TPU cores.");
  }
  return {};
}

Status TpuRuntime(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  const std::string& version = input.runtime_version();
  if (!IsTpuJob(input) || version.empty() || SupportsTpu(version) || IsOwnVersion(version) ||
      IsReplacedVersion(version))
    return {};
  std::string versions(kTpuVersionsText);
  for (const ValidationContext::Runtime& runtime : context.runtimes)
    if (IsOwnVersion(runtime.version) && !runtime.is_variant) versions += ", " + runtime.version;
  return Invalid("runtime_version",
                 "The runtime version '" + input.runtime_version() +
                     "' does not support training with TPUs. Versions that do: " + versions + ".");
}

Status TpuTfVersion(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  const bool wanted = IsTpuJob(input) && WorkerHasCustomImage(input);
  for (const cluster::Role& role : cluster::Roles(input)) {
    const std::string& version = role.config.tpu_tf_version();
    const std::string field = std::string(role.field) + "_config.tpu_tf_version";
    const bool wanted_here = wanted && role.type == replica::v1::WORKER;
    if (!wanted_here && !version.empty()) {
      return Invalid(field, "This value can only be used for a TPU worker that uses a custom container.");
    }
    if (wanted_here && version.empty()) {
      return Invalid(field, "This value is required when a TPU worker uses a custom container.");
    }
    if (wanted_here && !SupportsTpu(version)) {
      return Invalid(field, "The runtime version '" + version +
                                "' does not support training with TPUs. Versions that do: " +
                                std::string(kTpuVersionsText) + ".");
    }
  }
  return {};
}

}  // namespace trainyard::jobs::rules
