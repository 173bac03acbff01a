#include "rules/validation/testing/compatibility.h"

namespace trainyard::jobs {
namespace {

using enum FieldTreatment;

constexpr std::string_view kApi = "API description";
constexpr std::string_view kGpus = "\"using GPUs\"";
constexpr std::string_view kStarting = "\"starting a training job\"";
constexpr std::string_view kOwn = "adr/0099";
constexpr std::string_view kOwnTuning = "adr/0101";
constexpr std::string_view kInferred = "not found; our decision (adr/0010)";

constexpr FieldRow kRows[] = {
    {"ReplicaConfig.acceleratorConfig", kMapped,
     "Accelerators of this machine, which belong to this replica alone while it lives. Only with Compute "
     "Engine machine types and the tier CUSTOM. A job that asks for more than the machine has waits, and its "
     "log says for what; if jobs do not wait for accelerators here, it is refused with the reason "
     "(adr/0011).",
     "accelerators tpu_accelerator region_accelerators accelerator_zone accelerators_here", kGpus},
    {"ReplicaConfig.imageUri", kMapped,
     "The replica runs in a container of that image, from any registry, not only Google's, or from this "
     "machine (oci:/PATH, oci-archive:/PATH, docker-archive:/PATH, docker-daemon:NAME, "
     "containers-storage:NAME). Workers, parameter servers and evaluators without an image use the master's. "
     "The tag is resolved when the job is created, or while it is QUEUED if its registry does not answer "
     "then; all replicas, restarts and retries run that digest. A Python package of the job is installed "
     "into the image. Some of the original's own images select a runtime version instead, and the images "
     "gcr.io/cloud-ml-algos/* select the built-in algorithms (algorithms.md). Refused with the reason if the "
     "server runs no containers (containers.md).",
     "image runtime_or_image algorithm tpu_tf_version containers_here", kApi},
    {"ReplicaConfig.containerCommand", kHonoured,
     "In place of the image's ENTRYPOINT and CMD; a Python package of the job is not installed then, and the "
     "job's log says so. Then come tuned parameters and --job-dir, as with args.",
     "container_fields", kApi},
    {"ReplicaConfig.containerArgs", kHonoured, "In place of the image's CMD. Otherwise as containerCommand.",
     "container_fields", kApi},
    {"ReplicaConfig.diskConfig", kMapped,
     "Limits what a container writes; Python packages use this machine's disk, and the job's log says so.",
     "disks", kApi},
    {"ReplicaConfig.tpuTfVersion", kNoted,
     "Required with a custom container on the TPU worker, refused elsewhere; images of the built-in "
     "algorithms need none. The library in the master's image or runtime version uses the TPU of this "
     "machine, and the job's log says so. In YAML gcloud needs it in quotes; trainyard takes a number, too.",
     "tpu_tf_version", kApi},
    {"ReplicaConfig.args", kHonoured,
     "The arguments of this role's program, in place of trainingInput.args. Then come tuned parameters and "
     "--job-dir. Trainyard's own: the original has no such field.",
     "arguments container_fields algorithm", kOwn},
    {"ReplicaConfig.env", kHonoured,
     "Variables of this role's program, after those of trainingInput.env: the same name replaces that "
     "variable. None can be a secret. Trainyard's own: the original has no such field.",
     "variables", kOwn},
    {"ReplicaConfig.pythonModule", kHonoured,
     "The module of this role, in place of trainingInput.pythonModule. Trainyard's own: the original has no "
     "such field.",
     "module algorithm", kOwn},
    {"ReplicaConfig.packageUris", kHonoured,
     "The packages of this role, in place of trainingInput.packageUris: only these are installed in its "
     "replicas. With them a role of a job that runs images can run a Python package, too. Trainyard's own: "
     "the "
     "original has no such field.",
     "packages algorithm", kOwn},

    {"AcceleratorConfig.type", kMapped,
     "The operator decides which of this machine's accelerators are used for the type. TPU_V2 and TPU_V3 are "
     "for `cloud_tpu` workers and `cloud-tpu` machines only; pods are refused. ACCELERATOR_TYPE_UNSPECIFIED "
     "with count 0 means none. "
     "The types that only Vertex AI has (NVIDIA_L4 and so on) go with its machine types (accelerators.md).",
     "accelerators tpu_accelerator", kGpus},
    {"AcceleratorConfig.count", kHonoured,
     "The number of devices of each replica, numbered from 0. The counts that a machine type allows are the "
     "original's (data/cluster/accelerators.json), or what a machine type of Vertex AI brings; TPUs: 8 "
     "cores.",
     "accelerators tpu_accelerator", kGpus},

    {"DiskConfig.bootDiskSizeGb", kMapped,
     "0 to 65536, the sizes of Compute Engine; the original's own limits are not known any more. The total "
     "that a container may write, its /tmp included; without it this machine's disk is the limit.",
     "disks", kInferred},
    {"DiskConfig.bootDiskType", kNoted, "`pd-ssd`, `pd-standard` or absent.", "disks", kApi},

    {"Scheduling.maxRunningTime", kHonoured,
     "Counts from RUNNING on, including restarts; then the job is cancelled. Absent: 7 days.", "scheduling",
     kApi},
    {"Scheduling.maxWaitTime", kHonoured,
     "Counts from the creation until the first RUNNING; then the job is cancelled.", "scheduling", kStarting},
    {"Scheduling.priority", kHonoured,
     "Within a project, higher goes first in the queue, whatever the job asks for; then older goes first.",
     "scheduling", kApi},

    {"HyperparameterSpec.goal", kHonoured, "Absent or unspecified: MAXIMIZE.", "", kApi},
    {"HyperparameterSpec.params", kHonoured, "See ParameterSpec below.", "tuning_spec tuning_parameters",
     kApi},
    {"HyperparameterSpec.maxTrials", kHonoured,
     "Absent: 1. The original's upper limit is not known; here there is none.", "tuning_spec", kApi},
    {"HyperparameterSpec.maxParallelTrials", kHonoured,
     "Absent: 1. A value above maxTrials is accepted and means maxTrials; the job's log says so.",
     "tuning_spec", kApi},
    {"HyperparameterSpec.maxFailedTrials", kHonoured,
     "0 or absent: the job fails when its first min(maxParallelTrials, 5) trials to end have all failed, or "
     "more than half of maxTrials.",
     "tuning_spec", kApi},
    {"HyperparameterSpec.hyperparameterMetricTag", kHonoured,
     "Absent: `training/hptuning/metric`. It must not contain control characters, because it is also an "
     "environment variable.",
     "tuning_spec algorithm_tuning", kApi},
    {"HyperparameterSpec.enableTrialEarlyStopping", kHonoured,
     "A trial is stopped if others are better at the same step: docs/tuning.md. With furtherMetrics it has "
     "no effect, and the job's log says so.",
     "", kApi},
    {"HyperparameterSpec.resumePreviousJobId", kHonoured,
     "An ended tuning job of the project with the same params, goal, tag and furtherMetrics. If params, "
     "goal, hyperparameterMetricTag, furtherMetrics or algorithm is absent, it is taken from that job, and "
     "the job's log says so.",
     "tuning_spec", kApi},
    {"HyperparameterSpec.algorithm", kHonoured,
     "GRID_SEARCH or RANDOM_SEARCH; absent: Bayesian. POPULATION_BASED_TRAINING, which some clients know, is "
     "refused as an unknown value.",
     "tuning_parameters", kApi},
    {"HyperparameterSpec.furtherMetrics", kHonoured,
     "At most 4 metrics besides hyperparameterMetricTag: the next points are chosen by all of them "
     "(tuning.md). Trainyard's own: the original has no such field.",
     "tuning_spec algorithm_tuning", kOwnTuning},

    {"FurtherMetric.hyperparameterMetricTag", kHonoured,
     "The tag under which the program reports it, different from all others, without control characters.",
     "tuning_spec algorithm_tuning", kOwnTuning},
    {"FurtherMetric.goal", kHonoured, "MAXIMIZE or MINIMIZE.", "tuning_spec", kOwnTuning},

    {"ParameterSpec.parameterName", kHonoured,
     "The flag `--NAME`: no spaces, no `=`. Names with `-` and `_` are both in use.", "tuning_parameters",
     kApi},
    {"ParameterSpec.type", kHonoured, "DOUBLE, INTEGER, CATEGORICAL or DISCRETE.", "tuning_parameters", kApi},
    {"ParameterSpec.minValue", kHonoured,
     "For DOUBLE and INTEGER; absent means 0, because clients leave zeros out. For DISCRETE it has no "
     "effect, as documented, and the job's log says so.",
     "tuning_parameters", kApi},
    {"ParameterSpec.maxValue", kHonoured, "As minValue; if both are absent (or 0), the job is refused.",
     "tuning_parameters", kApi},
    {"ParameterSpec.categoricalValues", kHonoured,
     "The values of a CATEGORICAL parameter. For other types they have no effect, and the job's log says so.",
     "tuning_parameters", kApi},
    {"ParameterSpec.discreteValues", kHonoured,
     "The values of a DISCRETE parameter, at most 1000, distinct. If they are out of order they are sorted, "
     "and the job's log says so. For other types they have no effect, and the job's log says so.",
     "tuning_parameters", kApi},
    {"ParameterSpec.scaleType", kHonoured, "Log scales require a strictly positive range or list.",
     "tuning_parameters", kApi},
    {"ParameterSpec.condition", kHonoured,
     "The parameter has a value only in trials in which another one has certain values; in the others its "
     "flag "
     "is absent (tuning.md). Trainyard's own: the original has no such field.",
     "tuning_parameters", kOwn},
    {"Condition.parameterName", kHonoured,
     "An INTEGER, CATEGORICAL or DISCRETE parameter that stands before this one. It may have a condition, "
     "too.",
     "tuning_parameters", kOwn},
    {"Condition.values", kHonoured,
     "At least one value of that parameter, as text: `16`, `0.5`, `adam`. At most 1000.", "tuning_parameters",
     kOwn},
};

}  // namespace

std::span<const FieldRow> ReplicaRows() { return kRows; }

}  // namespace trainyard::jobs
