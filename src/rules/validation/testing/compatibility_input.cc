#include "rules/validation/testing/compatibility.h"

namespace trainyard::jobs {
namespace {

using enum FieldTreatment;

constexpr std::string_view kApi = "API description";
constexpr std::string_view kTpus = "\"using TPUs\"";
constexpr std::string_view kGpus = "\"using GPUs\"";
constexpr std::string_view kStarting = "\"starting a training job\"";
constexpr std::string_view kDetails = "\"distributed training details\"";
constexpr std::string_view kOwn = "adr/0036";
constexpr std::string_view kInferred = "not found; our decision (adr/0010)";

constexpr FieldRow kRows[] = {
    {"Job.jobId", kHonoured, "The name of the job, unique in its project.", "job_id", kStarting},
    {"Job.trainingInput", kHonoured, "What to run, and on what.", "training_job size", kApi},
    {"Job.trainingOutput", kOutput, "`{}` until something is known.", "", kApi},
    {"Job.predictionInput", kRefused, "Batch prediction is not what this server does.", "training_job", kApi},
    {"Job.predictionOutput", kOutput, "Never set.", "", kApi},
    {"Job.createTime", kOutput, "When the job was on disk.", "", kApi},
    {"Job.startTime", kOutput, "When the job had its place and its preparation began.", "", kApi},
    {"Job.endTime", kOutput,
     "When nothing of the job ran any more and its log was complete: clients may stop reading then.", "",
     kApi},
    {"Job.state", kOutput, "docs/lifecycle.md has the states and what leads from one to the next.", "", kApi},
    {"Job.errorMessage", kOutput,
     "Why the job failed or was cancelled, in the original's words where they are known.", "", kApi},
    {"Job.labels", kHonoured,
     "Kept, shown, replaced as a whole by jobs.patch, found by filters of jobs.list.", "labels", kApi},
    {"Job.etag", kHonoured,
     "Changes whenever the job does; jobs.patch with `etag` in its mask refuses an older one. Dropped by "
     "jobs.create.",
     "", kApi},
    {"Job.jobPosition", kOutput, "The place in the queue, from 1, while the job is QUEUED.", "", kApi},

    {"TrainingInput.scaleTier", kHonoured,
     "The replicas of each tier are the original's (data/cluster/scale_tiers.json). Absent: BASIC.",
     "replicas", kApi},
    {"TrainingInput.masterType", kMapped,
     "The machine type's vCPUs and memory are what the replica counts for in the queue, and its limits where "
     "the server "
     "enforces limits; the replica runs on this machine. An a2 type brings its A100s. Beside another tier "
     "than CUSTOM it "
     "has no effect, and the job's log says so: gcloud's --scale-tier over a file with masterType sends "
     "both.",
     "replicas machine_categories tpu_roles accelerators_here", kApi},
    {"TrainingInput.workerType", kMapped,
     "As masterType. `cloud_tpu`: the TPU of this machine, used by the master's program.",
     "replicas machine_categories tpu_cluster accelerators_here", kTpus},
    {"TrainingInput.parameterServerType", kMapped, "As masterType.", "replicas machine_categories tpu_roles",
     kApi},
    {"TrainingInput.evaluatorType", kMapped, "As masterType.", "replicas machine_categories tpu_roles", kApi},
    {"TrainingInput.workerCount", kHonoured, "So many workers, 1000 replicas in all at most.",
     "replicas tpu_cluster", kApi},
    {"TrainingInput.parameterServerCount", kHonoured, "So many parameter servers.", "replicas tpu_cluster",
     kApi},
    {"TrainingInput.evaluatorCount", kHonoured,
     "So many evaluators, outside of TF_CONFIG's cluster; also in TPU jobs, where nothing is written about "
     "them.",
     "replicas", kDetails},
    {"TrainingInput.masterConfig", kHonoured, "The rows of ReplicaConfig below.", "", kApi},
    {"TrainingInput.workerConfig", kHonoured,
     "As masterConfig. Without such replicas it has no effect, and the job's log says so.", "accelerators",
     kApi},
    {"TrainingInput.parameterServerConfig", kHonoured, "As workerConfig.", "accelerators", kApi},
    {"TrainingInput.evaluatorConfig", kHonoured, "As workerConfig.", "accelerators", kApi},
    {"TrainingInput.packageUris", kHonoured,
     "Objects of the server's buckets, looked up when the job is created and installed in this order. "
     "Required without an "
     "image, allowed beside one.",
     "packages", kApi},
    {"TrainingInput.pythonModule", kHonoured, "Run as `python3 -m MODULE`.", "module packages", kApi},
    {"TrainingInput.args", kHonoured, "The program's arguments, followed by tuned parameters and --job-dir.",
     "arguments algorithm", kApi},
    {"TrainingInput.hyperparameters", kHonoured, "Makes the job a tuning job: docs/tuning.md.",
     "tuning_spec tuning_parameters tuning_here algorithm", kApi},
    {"TrainingInput.region", kMapped,
     "Must be one of the original's 22 and, as far as is known, have the job's accelerators, all in one "
     "zone. Kept, shown "
     "and told to the program (CLOUD_ML_REGION); the job runs on this machine.",
     "region region_accelerators accelerator_zone encryption_key", kGpus},
    {"TrainingInput.jobDir", kHonoured,
     "A place in the server's buckets, passed as --job-dir; the bucket is made if it is not there.",
     "job_dir", kStarting},
    {"TrainingInput.runtimeVersion", kHonoured,
     "Python packages of that version; where its Python cannot be had, the nearest version that can be "
     "built, which the "
     "job's log says (adr/0006). Absent without an image: the server's default version, where the original "
     "of 2020 "
     "refused the job.",
     "runtime_version runtime_or_image tpu_runtime", kApi},
    {"TrainingInput.pythonVersion", kHonoured,
     "Has to be one that the runtime version comes with. Beside an image that runs as a container it has no "
     "effect, and the "
     "job's log says so: clients are known to send it.",
     "runtime_version", kApi},
    {"TrainingInput.encryptionConfig", kNoted,
     "Nothing is encrypted by the server: put its data directory on an encrypted disk.", "encryption_key",
     kApi},
    {"TrainingInput.scheduling", kHonoured, "The rows of Scheduling below.", "scheduling", kApi},
    {"TrainingInput.network", kNoted,
     "There is no VPC; replicas have this machine's network, or one of their own with --network isolated.",
     "network", kApi},
    {"TrainingInput.serviceAccount", kNoted,
     "Nothing is looked up and no rights come with it: replicas reach the server's buckets anyway.",
     "service_account", kApi},
    {"TrainingInput.useChiefInTfConfig", kHonoured,
     "The master's name in TF_CONFIG of custom containers. Elsewhere the runtime version decides (`chief` "
     "from 2.1 on), "
     "and the job's log says that the field has no effect.",
     "", kDetails},
    {"TrainingInput.enableWebAccess", kHonoured,
     "Interactive shells in the replicas, at the URIs of trainingOutput.webAccessUris. gcloud always sends "
     "it, as `false`.",
     "", kApi},
    {"TrainingInput.env", kHonoured,
     "Variables of every replica's program, in packages and containers; docs/run.md. Trainyard's own: the "
     "original has no such field.",
     "variables", kOwn},

    {"EnvVar.name", kHonoured, "None of those that the service sets.", "variables", kOwn},
    {"EnvVar.value", kHonoured,
     "Of a secret: taken out of the request, never stored with the job and never answered.", "variables",
     kOwn},
    {"EnvVar.secret", kHonoured,
     "The value lies apart until the job ends, reaches only the replicas, and their logs have *** for it.",
     "variables", kOwn},

    {"EncryptionConfig.kmsKeyName", kNoted,
     "`projects/P/locations/REGION/keyRings/R/cryptoKeys/K`, in the job's region. See encryptionConfig.",
     "encryption_key", kInferred},
};

}  // namespace

std::span<const FieldRow> InputRows() { return kRows; }

}  // namespace trainyard::jobs
