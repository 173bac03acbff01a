#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

/// The job that `trainyard run` asks for. Pure: any thread. docs/adr/0035.
namespace trainyard::cli {

/// A variable as --env or --secret gives it.
struct RunVariable {
  std::string name;
  std::string value;
  bool secret = false;
};

struct RunRequest {
  std::string job_id;
  std::string region;
  std::string package_uri;      ///< empty: an image
  std::string image;            ///< empty: a package
  std::string runtime_version;  ///< empty: the server's default
  std::string folder;           ///< gs://...: the job-dir
  bool passes_job_dir = false;  ///< as --job-dir; otherwise the program finds it in TRAINYARD_JOB_DIR
  std::string machine_type;  ///< of each replica; empty: the default tier's, unless there are GPUs or workers
  std::string max_time;      ///< "3600s"; empty: the server's
  std::string notify;        ///< a destination of notices (docs/notifications.md); empty: none
  bool web_access = false;
  int gpus = 0;
  int workers = 0;
  std::vector<std::string> args;
  std::vector<RunVariable> variables;
};

/// The Job to create.
[[nodiscard]] Json RunJob(const RunRequest& request);

/// "train_20261123_101502": letters, digits and underscores of the program's name, and the time.
[[nodiscard]] std::string RunJobId(std::string_view program, const std::tm& local_time);

/// The bucket of a project's runs: "PROJECT-runs", or "trainyard-runs" where that is no bucket's name.
[[nodiscard]] std::string RunsBucket(std::string_view project);

/// A variable as the API has it.
[[nodiscard]] Json VariableJson(const RunVariable& variable);

/// "NAME=VALUE". kInvalidArgument: there is no "=".
[[nodiscard]] Result<RunVariable> ParseVariable(const std::string& text);

struct RerunChanges {
  std::string job_id;                            ///< of the new job
  std::optional<std::vector<std::string>> args;  ///< the former's if absent
  std::vector<RunVariable> variables;            ///< instead of, or beside, those of the same names
};

/// The input and labels of a job as the server shows it, as a new job. The folder that `trainyard run` made
/// for the former job becomes the new job's own.
[[nodiscard]] Json RerunJob(const Json& former, const RerunChanges& changes);

/// Names of the former job's secrets that no change gives a value: the server has kept none.
[[nodiscard]] std::vector<std::string> MissingSecrets(const Json& former,
                                                      const std::vector<RunVariable>& variables);

/// "train_20261123_101502" again: the time of a former run is replaced, and put behind any other name.
[[nodiscard]] std::string RerunJobId(std::string_view former_id, const std::tm& local_time);

}  // namespace trainyard::cli
