#include "cli/results/results_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text/percent.h"
#include "cli/gcloud/common_flags.h"
#include "cli/interrupt.h"
#include "cli/run/follow_job.h"
#include "cli/storage/storage_commands.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kPauseMax{2'000};

Result<Json> GetJob(const CommandSession& session, const JobReference& job, bool patient) {
  return CallJson(session.client, {.path = job.Path(), .patient = patient});
}

JobReference NamedJob(const CommandSession& session) {
  return ParseJobReference(session, session.arguments.positionals.front());
}

bool IsPackage(const Json& job, const std::string& uri) {
  const Json* uris = FindMember(job, "trainingInput.packageUris");
  return uris != nullptr &&
         std::ranges::any_of(uris->children, [&](const Json& package) { return package.text == uri; });
}

constexpr auto kWaitFlags = WithCommonFlags({kDataDirFlag});

const Command kCommands[] = {
    {.spec = {.path = "jobs download",
              .summary = "Download the files from a job's output folder.",
              .positional = "JOB",
              .second = "[FOLDER]",
              .flags = kWaitFlags,
              .examples = "jobs download census_1\njobs download census_1 results"},
     .run = DownloadJob},
    {.spec = {.path = "jobs open",
              .summary = "Print the URL of a job.",
              .positional = "JOB",
              .flags = kWaitFlags,
              .examples = "jobs open census_1"},
     .run = OpenJob},
    {.spec = {.path = "jobs tensorboard",
              .summary = "Start TensorBoard on a job's output folder.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kWaitFlags,
              .examples = "jobs tensorboard census_1\njobs tensorboard census_1 -- --port=6007"},
     .run = StartTensorBoard},
    {.spec = {.path = "jobs wait",
              .summary = "Wait until a job has finished. The exit status is 0 if it succeeded.",
              .positional = "JOB",
              .flags = kWaitFlags,
              .examples = "jobs wait census_1"},
     .run = WaitForJob},
    {.spec = {.path = "tensorboard",
              .summary = "Start TensorBoard on a job's output folder, the same as jobs tensorboard.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kWaitFlags,
              .examples = "tensorboard census_1"},
     .run = StartTensorBoard},
};

}  // namespace

Result<std::string> JobFolder(const Json& job) {
  std::string folder = TextAt(job, "trainingInput.jobDir");
  if (const Json* variables = FindMember(job, "trainingInput.env"); folder.empty() && variables != nullptr) {
    for (const Json& variable : variables->children)
      if (TextAt(variable, "name") == "TRAINYARD_JOB_DIR") folder = TextAt(variable, "value");
  }
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.starts_with("gs://")) return folder;
  return std::unexpected(FailedPrecondition("The job [" + TextAt(job, "jobId") +
                                            "] has no output folder: it was submitted without --job-dir."));
}

ExitStatus WaitForJob(const CommandSession& session) {
  const JobReference name = NamedJob(session);
  // Also while the server is away and the client tries again.
  const InterruptEnds ends(session.console.says_status() ? "The job continues.\n" : "", kInterruptedStatus);
  auto pause = kFirstPause;
  for (bool first = true;; first = false) {
    TY_TRY(const Json job, GetJob(session, name, !first));
    if (!TextAt(job, "endTime").empty()) return SayEnd(session, job);
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

ExitStatus OpenJob(const CommandSession& session) {
  const JobReference name = NamedJob(session);
  TY_TRY([[maybe_unused]] const Json job, GetJob(session, name, false));
  std::string url = session.server.value;
  while (url.ends_with('/')) url.pop_back();
  session.console.Out(url + "/ui/p/" + text::PercentEncode(name.project) + "/jobs/" +
                      text::PercentEncode(name.job_id) + "\n");
  return 0;
}

ExitStatus DownloadJob(const CommandSession& session) {
  const JobReference name = NamedJob(session);
  TY_TRY(const Json job, GetJob(session, name, false));
  TY_TRY(const std::string folder, JobFolder(job));
  TY_TRY(const wire::ObjectUri uri, ParseStorageUrl(folder));
  const std::string prefix = uri.object.empty() ? "" : uri.object + "/";
  TY_TRY(const Listing listing, ListObjects(session, uri.bucket, prefix, false));
  const std::vector<std::string>& words = session.arguments.positionals;
  const fs::path target = words.size() > 1 ? words[1] : name.job_id;
  int files = 0;
  for (const Json& listed : listing.objects) {
    wire::ObjectUri object = uri;
    object.object = TextAt(listed, "name");
    if (object.object.ends_with('/') || IsPackage(job, object.ToString())) continue;
    TY_RETURN_IF_ERROR(DownloadBelow(session, object, object.object.substr(prefix.size()), target));
    ++files;
  }
  if (files == 0) return std::unexpected(NotFound("The job has written nothing to " + folder + "."));
  session.console.Status(std::to_string(files) + (files == 1 ? " file of " : " files of ") + folder + " in " +
                         target.string() + "\n");
  return 0;
}

std::span<const Command> ResultsCommands() { return kCommands; }

}  // namespace trainyard::cli
