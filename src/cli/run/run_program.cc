#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/async/file.h"
#include "base/wire/runs_bucket.h"
#include "cli/jobs/staging.h"
#include "cli/run/follow_job.h"
#include "cli/run/program_package.h"
#include "cli/run/run_commands.h"
#include "cli/run/run_request.h"
#include "cli/run/run_variables.h"
#include "cli/scratch_directory.h"
#include "cli/storage/upload.h"

namespace trainyard::cli {
namespace {

constexpr const char* kRegionDefault = "us-central1";

int NumberOf(const Arguments& arguments, std::string_view flag) {
  const std::string text = arguments.Value(flag).value_or("0");
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// What every run asks for, whatever it runs.
Result<RunRequest> ReadRequest(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  RunRequest request;
  request.region = session.Property("compute", "region").value_or(kRegionDefault);
  request.runtime_version = arguments.Value("--runtime-version").value_or("");
  if (const auto job_dir = arguments.Value("--job-dir")) request.job_dir = NormalJobDir(*job_dir);
  request.gpus = NumberOf(arguments, "--gpus");
  request.workers = NumberOf(arguments, "--workers");
  TY_TRY(request.variables, ReadRunVariables(session));
  return request;
}

/// The job's folder: --job-dir, or one of its own in the bucket of the project's runs.
StagingLocation FolderOf(const CommandSession& session, const RunRequest& request,
                         const std::string& job_id) {
  if (request.job_dir.empty()) return {RunsBucket(session.project.value), job_id};
  StagingLocation folder = *FindStaging(std::nullopt, request.job_dir, job_id);
  folder.prefix.resize(folder.prefix.size() - std::string_view("packages").size());
  while (folder.prefix.ends_with('/')) folder.prefix.pop_back();
  return folder;
}

void SayWhatStays(const Console& console, const std::vector<CollectedFiles::LeftBehind>& left_behind) {
  if (left_behind.empty()) return;
  std::string names;
  for (const CollectedFiles::LeftBehind& left : left_behind)
    names += (names.empty() ? "" : ", ") + left.name + " (" + (left.too_many ? "more than " : "") +
             SizeText(left.bytes) + ")";
  console.Warn("Data beside the program stays here, because more than " + SizeText(kDataBytesMax) +
               " does not come along: " + names +
               ". Put it into a bucket: trainyard storage cp -r FOLDER gs://BUCKET/");
}

/// Links to folders and unreadable files, of which a few are named.
void SayWhatIsSkipped(const Console& console, const std::vector<CollectedFiles::Skipped>& skipped) {
  constexpr std::size_t kNamedMax = 5;
  if (skipped.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(skipped.size(), kNamedMax); ++i)
    names += (i == 0 ? "" : ", ") + skipped[i].path +
             (skipped[i].is_link ? " (a link to a folder)" : " (cannot be read)");
  if (skipped.size() > kNamedMax) names += " and " + std::to_string(skipped.size() - kNamedMax) + " more";
  console.Warn("Not all that is beside the program comes along: " + names + ".");
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
    message += ". Who may make buckets makes it once: gcloud storage buckets create gs://" + bucket +
               " --project " + project +
               ". If another project has it, name a bucket of your own: --job-dir gs://BUCKET/FOLDER";
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
    uris.error().message += " Who may make buckets makes it once: gcloud storage buckets create gs://" +
                            folder.bucket + " --project " + session.project.value;
  return std::unexpected(std::move(uris).error());
}

Status PrepareImage(const CommandSession& session, RunRequest& request) {
  const Arguments& arguments = session.arguments;
  if (arguments.Has("--runtime-version"))
    return std::unexpected(UsageError("--runtime-version", "an image brings its own; give --image alone"));
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
                 " (" + guess.why + "; --runtime-version chooses another).\n");
}

}  // namespace

ExitStatus RunProgram(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  const bool is_image = arguments.Has("--image");
  if (!is_image && arguments.positionals.empty())
    return std::unexpected(UsageError("PROGRAM", "Must be specified, or an image with --image."));
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
  if (request.job_dir.empty())
    TY_RETURN_IF_ERROR(CheckRunsBucketIsOwn(session, RunsBucket(session.project.value)));
  if (program) TY_RETURN_IF_ERROR(Package(session, *program, FolderOf(session, request, job_id), request));
  const auto make = [&](const std::string& id) {
    const StagingLocation folder = FolderOf(session, request, id);
    request.job_id = id;
    request.folder = "gs://" + folder.bucket + (folder.prefix.empty() ? "" : "/" + folder.prefix);
    return RunJob(request);
  };
  TY_TRY(const Json created, CreateNamedJob(session, job_id, name.has_value(), make));
  const std::string created_id = TextAt(created, "jobId");
  session.console.Status("Job [" + created_id + "] submitted. Its folder: " + request.folder + "\n");
  return FollowUnlessAsync(session, created_id);
}

}  // namespace trainyard::cli
