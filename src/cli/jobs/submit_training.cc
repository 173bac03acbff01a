#include "cli/jobs/job_commands.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "cli/gcloud/flag_values.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/yaml.h"
#include "cli/jobs/config_file.h"
#include "cli/jobs/job_request.h"
#include "cli/jobs/job_warnings.h"
#include "cli/jobs/package_builder.h"
#include "cli/jobs/staging.h"
#include "cli/jobs/stream_logs.h"
#include "cli/scratch_directory.h"
#include "cli/storage/upload.h"

namespace trainyard::cli {
namespace {

Result<std::optional<AcceleratorFlag>> ReadAccelerator(const Arguments& arguments, std::string_view flag) {
  std::optional<std::string> value = arguments.Value(flag);
  if (!value) return std::nullopt;
  TY_TRY(auto pairs, SplitPairs(*value));
  AcceleratorFlag accelerator;
  for (auto& [key, text] : pairs) {
    if (key == "type") accelerator.type = EnumName(text);
    if (key == "count") accelerator.count = text;
  }
  return accelerator;
}

Result<ReplicaFlags> ReadReplica(const Arguments& arguments, const std::string& prefix) {
  ReplicaFlags flags{.machine_type = arguments.Value(prefix + "-machine-type"),
                     .count = arguments.Value(prefix + "-count"),
                     .image_uri = arguments.Value(prefix + "-image-uri")};
  TY_TRY(flags.accelerator, ReadAccelerator(arguments, prefix + "-accelerator"));
  return flags;
}

Result<std::optional<std::map<std::string, std::string>>> ReadLabels(const Arguments& arguments) {
  if (!arguments.Has("--labels")) return std::nullopt;
  std::map<std::string, std::string> labels;
  for (const std::string& value : arguments.Values("--labels")) {
    TY_TRY(auto pairs, SplitPairs(value));
    for (auto& [key, text] : pairs) labels[key] = text;
  }
  return labels;
}

/// The flags that describe the job. `project` completes the name of a key; the caller sets region and package
/// URIs. kInvalidArgument if a key is not fully specified.
Result<JobFlags> ReadJobFlags(const Arguments& arguments, const std::string& project) {
  JobFlags flags;
  flags.job_id = arguments.positionals.front();
  flags.module_name = arguments.Value("--module-name");
  if (auto job_dir = arguments.Value("--job-dir")) flags.job_dir = NormalJobDir(*job_dir);
  if (auto tier = arguments.Value("--scale-tier")) flags.scale_tier = EnumName(*tier);
  flags.runtime_version = arguments.Value("--runtime-version");
  flags.python_version = arguments.Value("--python-version");
  flags.network = arguments.Value("--network");
  flags.service_account = arguments.Value("--service-account");
  if (auto chief = arguments.Value("--use-chief-in-tf-config")) flags.use_chief_in_tf_config = IsTrue(*chief);
  flags.enable_web_access = arguments.IsOn("--enable-web-access");
  if (arguments.passthrough && !arguments.passthrough->empty()) flags.user_args = arguments.passthrough;
  TY_TRY(flags.labels, ReadLabels(arguments));
  TY_TRY(flags.master, ReadReplica(arguments, "--master"));
  TY_TRY(flags.worker, ReadReplica(arguments, "--worker"));
  TY_TRY(flags.parameter_server, ReadReplica(arguments, "--parameter-server"));
  flags.worker.tpu_tf_version = arguments.Value("--tpu-tf-version");
  KmsFlags kms{arguments.Value("--kms-key"), arguments.Value("--kms-keyring"),
               arguments.Value("--kms-location"), arguments.Value("--kms-project").value_or(project)};
  TY_TRY(flags.kms_key_name, KmsKeyName(kms));
  return flags;
}

constexpr std::size_t kConfigBytesMax = std::size_t{4} << 20;

Result<Json> ReadConfig(const std::optional<std::string>& path) {
  if (!path) return Json{};
  Result<std::string> text = ReadFile(*path, kConfigBytesMax);
  if (!text) {
    std::string reason = text.error().code == Code::kNotFound
                             ? "[Errno 2] No such file or directory: '" + *path + "'"
                             : text.error().message;
    return std::unexpected(InvalidArgument(
        "", "Failed to load YAML from [" + *path + "]: Unable to read file [" + *path + "]: " + reason));
  }
  Result<Json> config = ParseYaml(*text);
  if (!config)
    return std::unexpected(
        InvalidArgument("", "Failed to parse YAML from [" + *path + "]: " + config.error().message));
  return FitConfig(*config, *path);
}

Result<std::string> FindRegion(const CommandSession& session) {
  if (auto flag = session.arguments.Value("--region")) return *flag;
  if (auto property = session.Property("compute", "region")) return *property;
  return std::unexpected(InvalidArgument("",
                                         "The required property [region] is not currently set.\nIt can be "
                                         "set on a per-command basis by re-running your command "
                                         "with the [--region] flag.\n\nYou may set it for your current "
                                         "workspace by running:\n\n  $ gcloud config set "
                                         "compute/region VALUE\n\nor it can be set temporarily by the "
                                         "environment variable [CLOUDSDK_COMPUTE_REGION]"));
}

/// Builds and uploads the packages of --package-path and --packages. Returns the job's packageUris.
Result<std::vector<std::string>> StagePackages(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  PackageList packages;
  if (auto list = arguments.Value("--packages")) {
    TY_TRY(std::vector<std::string> names, SplitList(*list));
    packages = SortPackages(names);
  }
  std::optional<std::string> package_path = arguments.Value("--package-path");
  if (package_path) TY_RETURN_IF_ERROR(CheckPackagePath(*package_path));
  if (!package_path && packages.local.empty()) return packages.remote;
  std::optional<StagingLocation> staging = FindStaging(
      arguments.Value("--staging-bucket"), arguments.Value("--job-dir"), arguments.positionals.front());
  if (!staging)
    return std::unexpected(InvalidArgument(
        "", "If local packages are provided, the `--staging-bucket` or `--job-dir` flag must be given."));
  TY_TRY(ScratchDirectory folder, ScratchDirectory::Make());
  if (package_path) {
    std::filesystem::path output = folder.path() / "output";
    TY_RETURN_IF_ERROR(MakeFolders(output));
    TY_TRY(std::vector<std::string> built, BuildPackage(*package_path, folder.path(), output));
    packages.local.insert(packages.local.end(), built.begin(), built.end());
  }
  TY_TRY(std::vector<std::string> uploaded,
         UploadPackages(session.client, session.console, packages.local, *staging));
  packages.remote.insert(packages.remote.end(), uploaded.begin(), uploaded.end());
  return packages.remote;
}

Result<Json> CreateJob(const CommandSession& session, const Json& job) {
  Result<Json> created = PostJson(session.client, JobsPath(session.project.value), job);
  constexpr std::string_view kExists = "ALREADY_EXISTS: ";
  if (!created && created.error().code == Code::kAlreadyExists &&
      created.error().message.starts_with(kExists))
    created.error().message =
        "Resource in projects [" + session.project.value +
        "] is the subject of a conflict: " + created.error().message.substr(kExists.size());
  return created;
}

std::string FollowUp(const CommandSession& session, const std::string& job_id) {
  return "Your job is still active. You may view the status of your job with the command\n\n  $ " +
         session.CommandLine("jobs describe " + job_id) +
         "\n\nor continue streaming the logs with the command\n\n  $ " +
         session.CommandLine("jobs stream-logs " + job_id) + "\n";
}

/// Prints the four fields that gcloud prints after submit, or the output of --format.
void PrintJob(const CommandSession& session, const Json& job) {
  if (session.format.kind != OutputFormat::Kind::kDefault)
    return session.console.Out(PrintResource(job, session.format));
  Json shown = JsonObject();
  for (const char* field : {"jobId", "state"})
    if (std::string text = TextAt(job, field); !text.empty()) SetMember(shown, field, JsonString(text));
  for (const char* field : {"startTime", "endTime"})
    if (std::string text = TextAt(job, field); !text.empty())
      SetMember(shown, field, JsonString(LocalTime(text, kDateFormat)));
  session.console.Out(PrintYaml(shown));
}

ExitStatus FollowJob(const CommandSession& session, const std::string& job_id) {
  StreamOptions options;
  options.query = {session.project.value, job_id, std::nullopt};
  options.polling_interval = PollingInterval(session);
  options.print = [&session](const std::string& lines) {
    session.console.LogLines(lines, Console::Stream::kErr);
  };
  Result<StreamEnd> end = StreamLog(session, options);
  if (!end)
    session.console.Status("Polling logs failed:\n" + end.error().message + "\n\n" +
                           FollowUp(session, job_id));
  else if (*end == StreamEnd::kInterrupted)
    session.console.Status("Received keyboard interrupt.\n\n" + FollowUp(session, job_id));
  JobReference job{session.project.value, job_id};
  TY_TRY(Json answer, CallJson(session.client, {.path = job.Path()}));
  PrintJob(session, answer);
  return TextAt(answer, "state") == "SUCCEEDED" ? 0 : 1;
}

}  // namespace

ExitStatus SubmitTraining(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  if (arguments.IsOn("--async"))
    session.console.Warn(
        "The --async flag is deprecated, as the default behavior is to submit the job asynchronously; it can "
        "be omitted. For "
        "synchronous behavior, please pass --stream-logs.\n");
  TY_TRY(Json config, ReadConfig(arguments.Value("--config")));
  TY_TRY(JobFlags flags, ReadJobFlags(arguments, session.project.value));
  TY_RETURN_IF_ERROR(CheckCustomServer(flags, config));
  TY_TRY(flags.region, FindRegion(session));
  TY_TRY(flags.package_uris, StagePackages(session));
  TY_TRY(Json job, BuildJob(config, flags));
  Result<Json> answer = CreateJob(session, job);
  if (!answer && arguments.Has("--config"))
    answer.error().message =
        WithConfigLine(std::move(answer).error().message, config, *arguments.Value("--config"));
  TY_TRY(const Json created, std::move(answer));
  std::string job_id = TextAt(created, "jobId");
  if (job_id.empty()) job_id = flags.job_id;
  session.console.Status("Job [" + job_id + "] submitted successfully.\n");
  if (arguments.IsOn("--stream-logs")) return FollowJob(session, job_id);
  PrintJobWarnings(session.client, session.console, {session.project.value, job_id});
  session.console.Status(FollowUp(session, job_id));
  PrintJob(session, created);
  return 0;
}

}  // namespace trainyard::cli
