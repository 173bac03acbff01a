#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/result.h"
#include "base/wire/runs_bucket.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/staging.h"
#include "cli/run/follow_job.h"
#include "cli/run/machine_choice.h"
#include "cli/run/program_package.h"
#include "cli/run/run_request.h"
#include "cli/scratch_directory.h"
#include "cli/storage/upload.h"
#include "cli/terminal_input.h"

namespace trainyard::cli {
namespace {

/// The value of one secret: that of the caller's own variable of this name, or what is typed.
Result<RunVariable> ReadSecret(const CommandSession& session, const std::string& name) {
  if (name.find('=') != std::string::npos)
    return std::unexpected(UsageError(
        "--secret", "specify only the name; the value is read from your environment variable of that name"));
  if (std::optional<std::string> value = session.sources.variable(name.c_str()))
    return RunVariable{name, *std::move(value), true};
  if (::isatty(STDIN_FILENO) == 0)
    return std::unexpected(InvalidArgument("", "The secret " + name +
                                                   " has no value: the environment variable is not set, and "
                                                   "there is no terminal to prompt on. Set it: export " +
                                                   name + "=..."));
  session.console.Status("Value of the secret " + name + ": ");
  Result<std::string> value = ReadSilentLine();
  session.console.Status("\n");
  if (!value) return std::unexpected(InvalidArgument("", "The secret " + name + " needs a value."));
  return RunVariable{name, *std::move(value), true};
}

/// The variables of --env and --secret, whose values are in no command line. kInvalidArgument: a flag that is
/// not NAME=VALUE; a secret without a value and without a terminal.
Result<std::vector<RunVariable>> ReadRunVariables(const CommandSession& session) {
  std::vector<RunVariable> variables;
  for (const std::string& text : session.arguments.Values("--env")) {
    TY_TRY(RunVariable variable, ParseVariable(text));
    variables.push_back(std::move(variable));
  }
  for (const std::string& name : session.arguments.Values("--secret")) {
    TY_TRY(RunVariable variable, ReadSecret(session, name));
    variables.push_back(std::move(variable));
  }
  return variables;
}

constexpr const char* kRegionDefault = "us-central1";

int NumberOf(const Arguments& arguments, std::string_view flag) {
  return static_cast<int>(ParseNumber(arguments.Value(flag).value_or("0")).value_or(0));
}

/// What every run asks for, whatever it runs.
Result<RunRequest> ReadRequest(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  RunRequest request;
  request.region = session.Property("compute", "region").value_or(kRegionDefault);
  request.runtime_version = arguments.Value("--runtime-version").value_or("");
  if (const auto job_dir = arguments.Value("--job-dir")) {
    request.folder = NormalJobDir(*job_dir);
    request.passes_job_dir = true;
  }
  request.notify = arguments.Value("--notify").value_or("");
  request.gpus = NumberOf(arguments, "--gpus");
  request.workers = NumberOf(arguments, "--workers");
  const MachineNeeds needs{.cpus = NumberOf(arguments, "--cpus"),
                           .memory_bytes = ParseBytes(arguments.Value("--memory").value_or("")).value_or(0),
                           .gpus = request.gpus};
  const bool is_usual =
      needs.cpus == 0 && needs.memory_bytes == 0 && request.gpus == 0 && request.workers == 0;
  if (!is_usual) {
    TY_TRY(request.machine_type, ChooseMachine(needs));
  }
  if (const auto limit = ParseDuration(arguments.Value("--max-time").value_or("")))
    request.max_time = std::to_string(limit->count()) + "s";
  // A server without authentication opens shells only for its own account and root, so nobody else can use
  // it.
  request.web_access =
      arguments.Has("--enable-web-access") ? arguments.IsOn("--enable-web-access") : session.token.empty();
  TY_TRY(request.variables, ReadRunVariables(session));
  return request;
}

/// The job's folder: --job-dir, or one of its own in the bucket of the project's runs.
StagingLocation FolderOf(const CommandSession& session, const RunRequest& request,
                         const std::string& job_id) {
  if (!request.passes_job_dir) return {RunsBucket(session.project.value), job_id};
  StagingLocation folder = *FindStaging(std::nullopt, request.folder, job_id);
  folder.prefix.resize(folder.prefix.size() - std::string_view("packages").size());
  while (folder.prefix.ends_with('/')) folder.prefix.pop_back();
  return folder;
}

void SayWhatStays(const Console& console, const std::vector<CollectedFiles::LargeData>& left_behind) {
  if (left_behind.empty()) return;
  std::string names;
  for (const CollectedFiles::LargeData& left : left_behind)
    names += (names.empty() ? "" : ", ") + left.name + " (" + (left.too_many ? "more than " : "") +
             SizeText(left.bytes) + ")";
  console.Warn("Data files next to the program are not uploaded, because they are larger than " +
               SizeText(kDataBytesMax) + ": " + names +
               ". Copy them to a bucket: trainyard storage cp -r FOLDER gs://BUCKET/");
}

/// Links to folders and unreadable files, of which a few are named.
void SayWhatIsSkipped(const Console& console, const std::vector<CollectedFiles::SkippedFile>& skipped) {
  constexpr std::size_t kNamedMax = 5;
  if (skipped.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(skipped.size(), kNamedMax); ++i)
    names += (i == 0 ? "" : ", ") + skipped[i].path + " (" + std::string(skipped[i].why) + ")";
  if (skipped.size() > kNamedMax) names += " and " + std::to_string(skipped.size() - kNamedMax) + " more";
  console.Warn("These files next to the program are not uploaded: " + names + ".");
}

/// The bucket's name is the project's by custom only: one that another project made would get the program,
/// its arguments and what it writes. One that is absent is said where it is written to.
Status CheckRunsBucketIsOwn(const CommandSession& session, const std::string& bucket) {
  const std::string& project = session.project.value;
  const ApiRequest request{.method = ApiRequest::Method::kGet,
                           .path = "/storage/v1/b/" + bucket + "/iam/testPermissions",
                           .query = {{"permissions", "storage.objects.create"}},
                           .headers = {{std::string(wire::kBucketProjectField), project}}};
  constexpr int kBadRequest = 400;
  constexpr int kNotFound = 404;
  TY_TRY(const ApiResponse answer, session.client.Send(request));
  if (answer.status < kBadRequest || answer.status == kNotFound) return {};
  std::string message = ErrorText(answer);
  if (answer.status == kBadRequest)
    message +=
        ". Someone who may create buckets has to create it once: trainyard storage buckets create gs://" +
        bucket + " --project " + project +
        ". If it belongs to another project, use a bucket of your own: --job-dir gs://BUCKET/FOLDER";
  return std::unexpected(Error{Code::kUnknown, std::move(message), ""});
}

/// Packages the program and uploads it to the job's folder.
Status Package(const CommandSession& session, const LocalProgram& program, const StagingLocation& folder,
               RunRequest& request) {
  TY_TRY(const ScratchDirectory scratch, ScratchDirectory::Make());
  const std::string path = scratch.path() / kWheelName;
  TY_RETURN_IF_ERROR(WriteFileAtomically(path, MakeWheel(program.package)));
  const std::string prefix = folder.prefix.empty() ? "packages" : folder.prefix + "/packages";
  Result<std::vector<std::string>> uris =
      UploadPackages(session.client, session.console, {path}, {folder.bucket, prefix});
  if (uris) {
    request.package_uri = uris->front();
    return {};
  }
  // A server that asks who its users are makes a bucket at its first use only for those who may.
  if (uris.error().code == Code::kNotFound)
    uris.error().message +=
        " Someone who may create buckets has to create it once: trainyard storage buckets create gs://" +
        folder.bucket + " --project " + session.project.value;
  return std::unexpected(std::move(uris).error());
}

Status PrepareImage(const CommandSession& session, RunRequest& request) {
  const Arguments& arguments = session.arguments;
  if (arguments.Has("--runtime-version"))
    return std::unexpected(UsageError("--runtime-version",
                                      "cannot be combined with --image: the image contains its own runtime"));
  request.image = *arguments.Value("--image");
  request.args = arguments.positionals;
  if (arguments.passthrough)
    request.args.insert(request.args.end(), arguments.passthrough->begin(), arguments.passthrough->end());
  return {};
}

/// The last part of an image's name, without tag and digest: "python" of "host/python:3.11".
std::string ImageName(const std::string& image) {
  const std::string name = BaseName(image.substr(0, image.find('@')));
  return name.substr(0, name.find(':'));
}

void ChooseRuntime(const Console& console, const LocalProgram& program, RunRequest& request) {
  if (!request.runtime_version.empty()) return;
  const RuntimeGuess guess = GuessRuntime(program.sources);
  request.runtime_version = guess.version;
  console.Status("Runtime version: " + (guess.version.empty() ? "the server's default" : guess.version) +
                 " (" + guess.why + "; use --runtime-version to change it).\n");
}

/// `run PROGRAM [ARGS]`: packages the program with the files beside it, creates a job and follows it. Exit
/// status as FollowJobToItsEnd; 0 once created with --async.
ExitStatus RunProgram(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  const bool is_image = arguments.Has("--image");
  if (!is_image && arguments.positionals.empty())
    return std::unexpected(UsageError("PROGRAM", "Must be specified, unless --image is given."));
  TY_TRY(RunRequest request, ReadRequest(session));
  std::optional<LocalProgram> program;
  if (is_image) {
    TY_RETURN_IF_ERROR(PrepareImage(session, request));
  } else {
    request.args = arguments.passthrough.value_or(std::vector<std::string>());
    TY_TRY(program, ReadProgram(arguments.positionals.front(), request.args));
    ChooseRuntime(session.console, *program, request);
    SayWhatStays(session.console, program->left_behind);
    SayWhatIsSkipped(session.console, program->skipped);
  }
  const std::optional<std::string> name = arguments.Value("--name");
  const std::string job_id =
      name ? *name : RunJobId(program ? program->name : ImageName(request.image), LocalNow());
  if (!request.passes_job_dir)
    TY_RETURN_IF_ERROR(CheckRunsBucketIsOwn(session, RunsBucket(session.project.value)));
  if (program) TY_RETURN_IF_ERROR(Package(session, *program, FolderOf(session, request, job_id), request));
  const auto make = [&](const std::string& id) {
    request.job_id = id;
    if (!request.passes_job_dir) request.folder = "gs://" + RunsBucket(session.project.value) + "/" + id;
    return RunJob(request);
  };
  TY_TRY(const Json created, CreateNamedJob(session, job_id, name.has_value(), make));
  const std::string created_id = TextAt(created, "jobId");
  const StagingLocation folder = FolderOf(session, request, created_id);
  session.console.Status("Job [" + created_id + "] submitted. Its folder: gs://" + folder.bucket +
                         (folder.prefix.empty() ? "" : "/" + folder.prefix) + "\n");
  return FollowUnlessAsync(session, created_id);
}

/// `jobs rerun JOB [-- ARGS]`: a new job with the input of a former one. Exit status as RunProgram.
ExitStatus RerunFormerJob(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  const JobReference name = ParseJobReference(session, arguments.positionals.front());
  TY_TRY(const Json former, CallJson(session.client, {.path = name.Path()}));
  RerunChanges changes;
  changes.args = arguments.passthrough;
  TY_TRY(changes.variables, ReadRunVariables(session));
  for (const std::string& secret : MissingSecrets(former, changes.variables)) {
    TY_TRY(RunVariable variable, ReadSecret(session, secret));
    changes.variables.push_back(std::move(variable));
  }
  const std::optional<std::string> own = arguments.Value("--name");
  const std::string job_id = own ? *own : RerunJobId(name.job_id, LocalNow());
  const auto make = [&](const std::string& id) {
    changes.job_id = id;
    return RerunJob(former, changes);
  };
  TY_TRY(const Json created, CreateNamedJob(session, job_id, own.has_value(), make));
  const std::string created_id = TextAt(created, "jobId");
  session.console.Status("Job [" + created_id + "] submitted, with the input of [" + name.job_id + "].\n");
  return FollowUnlessAsync(session, created_id);
}

Status CheckMaxTime(std::string_view text) {
  if (ParseDuration(text)) return {};
  return std::unexpected(
      InvalidArgument("", "'" + std::string(text) + "' is not a time, such as 90s, 30m, 12h or 7d"));
}

constexpr FlagSpec kAsyncFlag{"--async", "", "Return after submitting the job, without showing its log."};
constexpr FlagSpec kEnvFlag =
    Repeated({"--env", "NAME=VALUE", "Environment variable for the program. Can be repeated."});
constexpr FlagSpec kNameFlag{"--name", "JOB", "Name of the job. Default: the program's name and the time."};
constexpr auto kRunFlags = WithCommonFlags(
    {kAsyncFlag,
     {"--cpus", "COUNT", "CPUs that each replica needs. The machine type is chosen by it.",
      CheckPositiveInteger},
     {"--enable-web-access", "",
      "Allow interactive shells in the replicas. Default: on, if the server requires no login."},
     kEnvFlag,
     {"--gpus", "COUNT", "GPUs of each replica: 1, 2, 4 or 8.", CheckGpuCount},
     {"--image", "IMAGE", "Container image to run; the words after -- are its arguments."},
     {"--job-dir", "JOB_DIR",
      "gs:// path for the job's output, passed to the program as --job-dir. Default: a new folder for each "
      "job, whose path is in TRAINYARD_JOB_DIR.",
      CheckJobDir},
     {"--max-time", "TIME", "Cancel the job when it has run this long: 90s, 30m, 12h, 7d.", CheckMaxTime},
     {"--memory", "SIZE",
      "Memory that each replica needs: 16G. The machine type is chosen by it; a server with --capacity "
      "strict "
      "limits the replica to that of the type.",
      CheckBytes},
     kNameFlag,
     {"--notify", "NAME",
      "Destination, set up by the server's operator, that is told when the job ends or waits long."},
     {"--runtime-version", "VERSION",
      "Runtime version that the program needs. Default: chosen by the program's imports."},
     Repeated({"--secret", "NAME",
               "Environment variable whose value is not stored with the job and not shown in its log. The "
               "value is read from your own variable NAME, or you are prompted for it. Can be repeated."}),
     {"--workers", "COUNT",
      "Number of workers in addition to the master. TF_CONFIG and the variables of torch.distributed are "
      "set.",
      CheckWorkerCount}});

constexpr auto kRerunFlags = WithCommonFlags(
    {kAsyncFlag, kEnvFlag, kNameFlag,
     Repeated({"--secret", "NAME",
               "Additional secret. The secrets of the original job are read again automatically."})});

const Command kRunCommands[] = {
    {.spec = {.path = "jobs rerun",
              .summary = "Submit a job again as a new job, optionally with other arguments after --.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kRerunFlags,
              .examples = "jobs rerun census_1\njobs rerun census_1 -- --epochs=20"},
     .run = RerunFormerJob},
    {.spec = {.path = "run",
              .summary = "Run a Python program, a notebook or an image as a job, and show its log.",
              .positional = "PROGRAM",
              .optional = true,
              .program = true,
              .flags = kRunFlags,
              .examples = "run train.py --epochs 10\n"
                          "run --gpus 1 --env SEED=7 --secret HF_TOKEN train.py\n"
                          "run --image example.com/trainer:1 -- --epochs 10"},
     .run = RunProgram},
};

}  // namespace

std::span<const Command> RunCommands() { return kRunCommands; }

}  // namespace trainyard::cli
