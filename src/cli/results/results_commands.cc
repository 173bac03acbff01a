#include "cli/results/results_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/interrupt.h"
#include "cli/jobs/trial_table.h"
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

/// Whether the job, or one of its roles, installs the package.
bool IsPackage(const Json& job, const std::string& uri) {
  return std::ranges::any_of(
      std::array{"", "masterConfig.", "workerConfig.", "parameterServerConfig.", "evaluatorConfig."},
      [&](const char* owner) {
        const std::vector<Json>& uris = ListAt(job, "trainingInput." + std::string(owner) + "packageUris");
        return std::ranges::find(uris, uri, &Json::text) != uris.end();
      });
}

constexpr auto kDownloadFlags =
    WithCommonFlags({{"--best", "", "Download the files of the best trial only."},
                     {"--trial", "NUMBER", "Download the files of this trial only.", CheckPositiveInteger}});
constexpr std::string_view kOneTrial[] = {"--best", "--trial"};
constexpr FlagGroup kDownloadGroups[] = {{FlagGroup::Rule::kExclusive, kOneTrial}};

const Command kResultsCommands[] = {
    {.spec = {.path = "jobs download",
              .summary = "Download the files from a job's output folder.",
              .positional = "JOB",
              .second = "[FOLDER]",
              .flags = kDownloadFlags,
              .groups = kDownloadGroups,
              .examples = "jobs download census_1\njobs download census_1 results\n"
                          "jobs download census_1 --best"},
     .run = DownloadJob},
    {.spec = {.path = "jobs open",
              .summary = "Print the URL of a job.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs open census_1"},
     .run = OpenJob},
    {.spec = {.path = "jobs tensorboard",
              .summary = "Start TensorBoard on a job's output folder.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kCommonFlags,
              .examples = "jobs tensorboard census_1\njobs tensorboard census_1 -- --port=6007"},
     .run = StartTensorBoard},
    {.spec = {.path = "jobs wait",
              .summary = "Wait until a job has finished. The exit status is 0 if it succeeded.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs wait census_1"},
     .run = WaitForJob},
    {.spec = {.path = "tensorboard",
              .summary = "Start TensorBoard on a job's output folder, the same as jobs tensorboard.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kCommonFlags,
              .examples = "tensorboard census_1"},
     .run = StartTensorBoard},
};

}  // namespace

Result<std::string> JobFolder(const Json& job) {
  std::string folder = TextAt(job, "trainingInput.jobDir");
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
  session.console.Out(PageOf(session, name) + "\n");
  return 0;
}

Result<std::string> TrialFolder(const Json& job, const std::string& trial) {
  const std::string id = TextAt(job, "jobId");
  if (FindMember(job, "trainingInput.hyperparameters") == nullptr)
    return std::unexpected(FailedPrecondition("The job [" + id + "] has no trials."));
  if (trial.empty())
    return std::unexpected(FailedPrecondition("No trial of the job [" + id + "] has a metric yet."));
  if (TextAt(job, "trainingInput.jobDir").empty())
    return std::unexpected(
        FailedPrecondition("The trials of the job [" + id +
                           "] have no folders of their own: it was submitted without --job-dir."));
  TY_TRY(const std::string folder, JobFolder(job));
  return folder + "/" + trial;
}

ExitStatus DownloadJob(const CommandSession& session) {
  const JobReference name = NamedJob(session);
  TY_TRY(const Json job, GetJob(session, name, false));
  const bool is_best = session.arguments.IsOn("--best");
  const std::string trial = is_best ? BestTrial(job) : session.arguments.Value("--trial").value_or("");
  const bool is_one = is_best || !trial.empty();
  TY_TRY(const std::string folder, is_one ? TrialFolder(job, trial) : JobFolder(job));
  TY_TRY(const wire::ObjectUri uri, ParseStorageUrl(folder));
  const std::string prefix = uri.object.empty() ? "" : uri.object + "/";
  TY_TRY(const Listing listing, ListObjects(session, uri.bucket, prefix, false));
  const std::vector<std::string>& words = session.arguments.positionals;
  const fs::path target = words.size() > 1 ? words[1] : name.job_id + (is_one ? "_" + trial : "");
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

std::span<const Command> ResultsCommands() { return kResultsCommands; }

}  // namespace trainyard::cli
