#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// `jobs wait JOB`: returns when it has ended. 0 only for SUCCEEDED, 1 for other ends, 130 after Ctrl-C. A
/// server that is away for a while is waited for.
[[nodiscard]] ExitStatus WaitForJob(const CommandSession& session);

/// `jobs open JOB`: prints the job's address.
[[nodiscard]] ExitStatus OpenJob(const CommandSession& session);

/// `jobs download JOB [FOLDER]`: copies the files of the job's folder, or with --trial or --best of one
/// trial, but for the package that it was run from, below FOLDER; without it, below a folder of the job's
/// name.
[[nodiscard]] ExitStatus DownloadJob(const CommandSession& session);

/// `jobs tensorboard JOB [-- FLAGS]`: becomes TensorBoard (tensorboard.cc) on the job's folder, which
/// prints its address. Where the folder's files cannot be read on this machine, TensorBoard runs on copies of
/// its event files, which are kept as long as they are (event_mirror.h) and go when it ends. kNotFound: there
/// is no TensorBoard.
[[nodiscard]] ExitStatus StartTensorBoard(const CommandSession& session);

/// The folder that a job writes to, "gs://bucket/folder" without a slash at its end: its jobDir.
/// kFailedPrecondition: it has none. Pure: any thread.
[[nodiscard]] Result<std::string> JobFolder(const Json& job);

/// The folder that one trial of a tuning job writes to: below that of the job. kFailedPrecondition: the job
/// has no trials, or they have no folders; or `trial` is empty, since none is the best yet. Pure: any thread.
[[nodiscard]] Result<std::string> TrialFolder(const Json& job, const std::string& trial);

}  // namespace trainyard::cli
