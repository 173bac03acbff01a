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
constexpr std::string_view kOwnRun = "adr/0035";
constexpr std::string_view kOwnVariables = "adr/0099";
constexpr std::string_view kInferred = "not found; our decision (adr/0010)";

constexpr FieldRow kRows[] = {
    {"Job.jobId", kHonoured, "The name of the job, unique in its project.", "job_id", kStarting},
    {"Job.trainingInput", kHonoured, "What to run, and on what.", "training_job size", kApi},
    {"Job.trainingOutput", kOutput, "`{}` until something is known.", "", kApi},
    {"Job.predictionInput", kRefused, "This server does no batch prediction.", "training_job", kApi},
    {"Job.predictionOutput", kOutput, "Never set.", "", kApi},
    {"Job.createTime", kOutput, "When the job was stored on disk.", "", kApi},
    {"Job.startTime", kOutput, "When the job got its slots and its preparation began.", "", kApi},
    {"Job.endTime", kOutput,
     "When no process of the job ran any more and its log was complete: clients may stop reading then.", "",
     kApi},
    {"Job.state", kOutput, "docs/lifecycle.md describes the states and the transitions between them.", "",
     kApi},
    {"Job.errorMessage", kOutput,
     "Why the job failed or was cancelled, in the original's words if they are known.", "", kApi},
    {"Job.labels", kHonoured,
     "Stored and returned; jobs.patch replaces them as a whole; filters of jobs.list can use them.", "labels",
     kApi},
    {"Job.etag", kHonoured,
     "Changes whenever the job does; jobs.patch with `etag` in its mask refuses an older one. jobs.create "
     "ignores it.",
     "", kApi},
    {"Job.jobPosition", kOutput, "The position in the queue, from 1, while the job is QUEUED.", "", kApi},
    {"Job.displayName", kHonoured,
     "Free text, which need not be unique. Trainyard's own: the original has no such field.", "display_name",
     kOwnVariables},

    {"TrainingInput.scaleTier", kHonoured,
     "The replicas of each tier are the original's (data/cluster/scale_tiers.json). Absent: BASIC.",
     "replicas", kApi},
    {"TrainingInput.masterType", kMapped,
     "The replica runs on this machine, or on a node of the cluster. The machine type's vCPUs and memory are "
     "what the replica uses in the queue's calculation, and its limits if the server enforces limits. An a2 "
     "type includes its A100s. With another tier than CUSTOM the field has no effect, and the job's log says "
     "so: gcloud sends both if --scale-tier overrides a file with masterType.",
     "replicas machine_categories tpu_roles accelerators_here", kApi},
    {"TrainingInput.workerType", kMapped,
     "As masterType. `cloud_tpu`: the TPU of this machine, used by the master's program.",
     "replicas machine_categories tpu_cluster accelerators_here", kTpus},
    {"TrainingInput.parameterServerType", kMapped, "As masterType.", "replicas machine_categories tpu_roles",
     kApi},
    {"TrainingInput.evaluatorType", kMapped, "As masterType.", "replicas machine_categories tpu_roles", kApi},
    {"TrainingInput.workerCount", kHonoured, "The number of workers; at most 1000 replicas in all.",
     "replicas tpu_cluster", kApi},
    {"TrainingInput.parameterServerCount", kHonoured, "The number of parameter servers.",
     "replicas tpu_cluster", kApi},
    {"TrainingInput.evaluatorCount", kHonoured,
     "The number of evaluators, which are not in TF_CONFIG's cluster. Allowed in TPU jobs too, although the "
     "documentation does not mention it.",
     "replicas", kDetails},
    {"TrainingInput.masterConfig", kHonoured, "See ReplicaConfig below.", "", kApi},
    {"TrainingInput.workerConfig", kHonoured,
     "As masterConfig. If the job has no such replicas it has no effect, and the job's log says so.",
     "accelerators", kApi},
    {"TrainingInput.parameterServerConfig", kHonoured, "As workerConfig.", "accelerators", kApi},
    {"TrainingInput.evaluatorConfig", kHonoured, "As workerConfig.", "accelerators", kApi},
    {"TrainingInput.packageUris", kHonoured,
     "Objects in the server's buckets, looked up when the job is created and installed in this order. "
     "Required without an image, allowed with one.",
     "packages", kApi},
    {"TrainingInput.pythonModule", kHonoured, "Run as `python3 -m MODULE`.", "module packages", kApi},
    {"TrainingInput.args", kHonoured, "The program's arguments, followed by tuned parameters and --job-dir.",
     "arguments algorithm", kApi},
    {"TrainingInput.hyperparameters", kHonoured, "Makes the job a tuning job: docs/tuning.md.",
     "tuning_spec tuning_parameters tuning_here algorithm", kApi},
    {"TrainingInput.region", kMapped,
     "Must be one of the original's 22 and, as far as is known, have the job's accelerators, all in one "
     "zone. Stored, returned and passed to the program (CLOUD_ML_REGION); the job runs on this machine, or "
     "on a cluster if the operator mapped the region to one.",
     "region region_accelerators accelerator_zone encryption_key", kGpus},
    {"TrainingInput.jobDir", kHonoured,
     "A directory in the server's buckets, passed as --job-dir; the bucket is created if it does not exist.",
     "job_dir", kStarting},
    {"TrainingInput.runtimeVersion", kHonoured,
     "Python packages of that version. If its Python is not available, the nearest version that can be built "
     "is used, and the job's log says so (adr/0006). Absent without an image: the server's default version; "
     "the original of 2020 refused the job.",
     "runtime_version runtime_or_image tpu_runtime", kApi},
    {"TrainingInput.pythonVersion", kHonoured,
     "Must be one that the runtime version supports. Without a runtime version, the default one if it has "
     "this Python, otherwise the newest that does. With an image that runs as a container it has no "
     "effect, and the job's log says so: some clients send it.",
     "runtime_version", kApi},
    {"TrainingInput.encryptionConfig", kNoted,
     "The server encrypts nothing: put its data directory on an encrypted disk.", "encryption_key", kApi},
    {"TrainingInput.scheduling", kHonoured, "See Scheduling below.", "scheduling", kApi},
    {"TrainingInput.network", kNoted,
     "There is no VPC; replicas use this machine's network, or one of their own with --network isolated.",
     "network", kApi},
    {"TrainingInput.serviceAccount", kMapped,
     "With --auth on, the job's programs act as this account: it must exist and have the rights that the job "
     "needs (docs/access.md). Without, nothing is looked up, and the job's log says that it gives no rights.",
     "service_account", kApi},
    {"TrainingInput.useChiefInTfConfig", kHonoured,
     "The master's name in TF_CONFIG of custom containers. Otherwise the runtime version decides (`chief` "
     "from 2.1 on), and the job's log says that the field has no effect.",
     "", kDetails},
    {"TrainingInput.enableWebAccess", kHonoured,
     "Interactive shells in the replicas, at the URIs in trainingOutput.webAccessUris. gcloud always sends "
     "it, as `false`.",
     "", kApi},
    {"TrainingInput.env", kHonoured,
     "Environment variables of every replica's program, in packages and containers; docs/run.md. Trainyard's "
     "own: the original has no such field.",
     "variables", kOwn},
    {"TrainingInput.jobDirAsVariable", kHonoured,
     "The program finds its jobDir in the variable TRAINYARD_JOB_DIR and gets no --job-dir; docs/run.md. "
     "Trainyard's own: the original has no such field.",
     "job_dir", kOwnRun},
    {"TrainingInput.outputUriPrefix", kHonoured,
     "With VERTEX_AI: AIP_MODEL_DIR, AIP_CHECKPOINT_DIR and AIP_TENSORBOARD_LOG_DIR are model/, checkpoints/ "
     "and logs/ below it, for a trial below TRIAL/ in it, whatever jobDirAsVariable says. Trainyard's own: "
     "the "
     "original has no such field.",
     "program_variables", kOwnVariables},
    {"TrainingInput.programVariables", kHonoured,
     "Which variables the programs find. AI_PLATFORM (absent): TF_CONFIG in every replica. VERTEX_AI: "
     "CLUSTER_SPEC with worker pools in every replica, TF_CONFIG and MASTER_ADDR, MASTER_PORT, RANK, "
     "WORLD_SIZE in jobs of several replicas only, AIP_* with outputUriPrefix; the job's `env` may replace "
     "them. Host names have the worker pool; each replica has variables ..._SERVICE_HOST and "
     "..._SERVICE_PORT. CLOUD_ML_PROJECT_ID is the project's number. Trainyard's own: the original has "
     "no such field.",
     "program_variables", kOwnVariables},

    {"EnvVar.name", kHonoured, "The variable's name; not one that the service sets.", "variables", kOwn},
    {"EnvVar.value", kHonoured,
     "A secret's value is removed from the request, never stored with the job and never returned.",
     "variables", kOwn},
    {"EnvVar.secret", kHonoured,
     "The value is stored separately until the job ends, is passed to the replicas only, and appears as *** "
     "in their logs.",
     "variables", kOwn},

    {"EncryptionConfig.kmsKeyName", kNoted,
     "`projects/P/locations/REGION/keyRings/R/cryptoKeys/K`, in the job's region. See encryptionConfig.",
     "encryption_key", kInferred},
};

}  // namespace

std::span<const FieldRow> InputRows() { return kRows; }

}  // namespace trainyard::jobs
