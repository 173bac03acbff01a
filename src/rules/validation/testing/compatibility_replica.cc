#include "rules/validation/testing/compatibility.h"

namespace trainyard::jobs {
namespace {

using enum FieldTreatment;

constexpr std::string_view kApi = "API description";
constexpr std::string_view kGpus = "\"using GPUs\"";
constexpr std::string_view kStarting = "\"starting a training job\"";
constexpr std::string_view kInferred = "not found; our decision (adr/0010)";

constexpr FieldRow kRows[] = {
    {"ReplicaConfig.acceleratorConfig", kMapped,
     "Accelerators of this machine, given to the replica alone while it lives. Only with Compute Engine "
     "machine types and "
     "the tier CUSTOM. A job that asks for more than there is waits, and its log says for what; where jobs "
     "do not wait for "
     "such things it is refused with a sentence (adr/0011).",
     "accelerators tpu_accelerator region_accelerators accelerator_zone accelerators_here", kGpus},
    {"ReplicaConfig.imageUri", kMapped,
     "A container of that image, of any registry, not only Google's, or of this machine (oci:/PATH, "
     "oci-archive:/PATH, docker-archive:/PATH, docker-daemon:NAME, containers-storage:NAME); workers, "
     "parameter servers and evaluators fall back to the master's. Looked up when the job is created, or "
     "while it is QUEUED if its registry does not answer then: all replicas, restarts and retries run the "
     "digest that the tag meant then. With a Python package the "
     "package is installed into the image, and an image of the original's own may stand for a runtime "
     "version. Refused with a sentence where the server runs no containers (containers.md). The images "
     "gcr.io/cloud-ml-algos/* stand for the built-in algorithms (algorithms.md).",
     "image runtime_or_image algorithm tpu_tf_version containers_here", kApi},
    {"ReplicaConfig.containerCommand", kHonoured,
     "In place of the image's ENTRYPOINT and CMD; a Python package of the job is not installed then, and the "
     "job's log says so. Then come tuned parameters and --job-dir, as with args.",
     "container_fields", kApi},
    {"ReplicaConfig.containerArgs", kHonoured, "In place of the image's CMD. Otherwise as containerCommand.",
     "container_fields", kApi},
    {"ReplicaConfig.diskConfig", kMapped,
     "Bounds what a container writes; Python packages use this machine's disk, and the job's log says so.",
     "disks", kApi},
    {"ReplicaConfig.tpuTfVersion", kNoted,
     "Demanded with a custom container on the TPU worker, refused elsewhere; images of the built-in "
     "algorithms need none. The TPU of this machine is driven by what is in the master's image or runtime "
     "version, and the job's log says so. In YAML it must be in quotes: gcloud cannot send a number here.",
     "tpu_tf_version", kApi},

    {"AcceleratorConfig.type", kMapped,
     "Which of this machine's accelerators stand for the type is the operator's matter. TPU_V2 and TPU_V3 go "
     "on "
     "`cloud_tpu` workers only; pods are refused. ACCELERATOR_TYPE_UNSPECIFIED with count 0 is none.",
     "accelerators tpu_accelerator", kGpus},
    {"AcceleratorConfig.count", kHonoured,
     "Devices of each replica, numbered from 0. The numbers that a machine type can have are the original's "
     "(data/cluster/accelerators.json); TPUs: 8 cores.",
     "accelerators tpu_accelerator", kGpus},

    {"DiskConfig.bootDiskSizeGb", kMapped,
     "0 to 65536, the sizes of Compute Engine; the original's own limits are lost. What a container may "
     "write "
     "in all, its /tmp included; without it only this machine's disk bounds it.",
     "disks", kInferred},
    {"DiskConfig.bootDiskType", kNoted, "`pd-ssd`, `pd-standard` or absent.", "disks", kApi},

    {"Scheduling.maxRunningTime", kHonoured,
     "Counts from RUNNING on, over restarts too; then the job is cancelled. Absent: 7 days.", "scheduling",
     kApi},
    {"Scheduling.maxWaitTime", kHonoured,
     "Counts from the creation until the first RUNNING; then the job is cancelled.", "scheduling", kStarting},
    {"Scheduling.priority", kHonoured,
     "Higher first in the queue, whatever the job asks for; then older first.", "scheduling", kApi},

    {"HyperparameterSpec.goal", kHonoured, "Absent or unspecified: MAXIMIZE.", "", kApi},
    {"HyperparameterSpec.params", kHonoured, "The rows of ParameterSpec below.",
     "tuning_spec tuning_parameters", kApi},
    {"HyperparameterSpec.maxTrials", kHonoured,
     "Absent: 1. The original's upper limit is not known; there is none.", "tuning_spec", kApi},
    {"HyperparameterSpec.maxParallelTrials", kHonoured,
     "Absent: 1. More than maxTrials is accepted and means maxTrials; the job's log says so.", "tuning_spec",
     kApi},
    {"HyperparameterSpec.maxFailedTrials", kHonoured,
     "0 or absent: the job fails when its first min(maxParallelTrials, 5) trials to end have all failed, or "
     "more than half of maxTrials.",
     "tuning_spec", kApi},
    {"HyperparameterSpec.hyperparameterMetricTag", kHonoured,
     "Absent: `training/hptuning/metric`. Without control characters, since it is an environment variable "
     "too.",
     "tuning_spec algorithm_tuning", kApi},
    {"HyperparameterSpec.enableTrialEarlyStopping", kHonoured,
     "A trial that others beat at the same step is stopped: docs/tuning.md.", "", kApi},
    {"HyperparameterSpec.resumePreviousJobId", kHonoured,
     "An ended tuning job of the project with the same params, goal and tag. What of params, goal, "
     "hyperparameterMetricTag and algorithm is absent is taken from that job, and the job's log says so.",
     "tuning_spec", kApi},
    {"HyperparameterSpec.algorithm", kHonoured,
     "GRID_SEARCH, RANDOM_SEARCH, or absent: Bayesian. POPULATION_BASED_TRAINING, which some clients know, "
     "is refused as an "
     "unknown value.",
     "tuning_parameters", kApi},

    {"ParameterSpec.parameterName", kHonoured,
     "The flag `--NAME`: no spaces, no `=`. Names with `-` and `_` are both in use.", "tuning_parameters",
     kApi},
    {"ParameterSpec.type", kHonoured, "DOUBLE, INTEGER, CATEGORICAL or DISCRETE.", "tuning_parameters", kApi},
    {"ParameterSpec.minValue", kHonoured,
     "DOUBLE and INTEGER; absent reads as 0, since clients leave zeros out. For DISCRETE it has no effect, "
     "as documented, "
     "and the job's log says so.",
     "tuning_parameters", kApi},
    {"ParameterSpec.maxValue", kHonoured, "As minValue; both absent (or 0) are refused.", "tuning_parameters",
     kApi},
    {"ParameterSpec.categoricalValues", kHonoured,
     "For other types they have no effect, and the job's log says so.", "tuning_parameters", kApi},
    {"ParameterSpec.discreteValues", kHonoured,
     "At most 1000, distinct. Out of order they are sorted, and the job's log says so. For other types they "
     "have no effect, and the job's log says so.",
     "tuning_parameters", kApi},
    {"ParameterSpec.scaleType", kHonoured, "Log scales want a strictly positive range or list.",
     "tuning_parameters", kApi},
};

}  // namespace

std::span<const FieldRow> ReplicaRows() { return kRows; }

}  // namespace trainyard::jobs
