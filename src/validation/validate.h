#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/ml/v1/ml.pb.h"

/// What jobs.create accepts. A table of small rules, each with its source, tried in the table's order. Pure:
/// any thread.
namespace trainyard::jobs {

/// What this installation can do, and what it knows. A valid job that asks for something else is refused with
/// kFailedPrecondition and a sentence that says what is missing (not with kUnimplemented: clients try a 501
/// again).
struct ValidationContext {
  bool containers = false;  ///< imageUri
  bool tuning = false;      ///< hyperparameters
  bool gpus = false;        ///< a job may ask for GPUs: there are some, or jobs wait for them
  bool tpus = false;        ///< the same of TPUs

  struct Runtime {
    std::string version;                       ///< "2.11"
    std::vector<std::string> python_versions;  ///< "3.7"
  };
  /// The runtime versions that a job may name. Empty: only the form and the documented pairs of
  /// runtimeVersion and pythonVersion are checked.
  std::vector<Runtime> runtimes;
  std::string no_containers;  ///< a sentence: why there are none, and what would change it; may be empty
  /// Images (MatchesImage) that a runtime version stands for, where the job has a Python package as well.
  std::vector<std::string> runtime_images;
};

/// One rule. `check` says nothing of what the other rules check; it runs only if all rules before it passed.
struct ValidationRule {
  std::string_view name;     ///< "job_id"
  std::string_view refuses;  ///< what it refuses, for docs/compatibility.md
  std::string_view source;   ///< where it is written
  Status (*check)(const ml::v1::Job& job, const ValidationContext& context);
};

/// All rules in the order in which they are tried.
[[nodiscard]] std::span<const ValidationRule> ValidationRules();

/// The first rule that is broken, in the order of ValidationRules(): kInvalidArgument, or kFailedPrecondition
/// for what the context lacks. Error.field is the path as the original words it, in snake_case without
/// "training_input": "scheduling.max_wait_time"; "job.job_id", "job.labels" for the job's own. What only the
/// server may set (state, times, ...) is not looked at: WithDefaults clears it.
///
/// Not checked here, since it takes looking: whether packages can be read, whether a job of that id
/// exists; pythonVersion beside no runtimeVersion (the default one is picked later).
[[nodiscard]] Status Validate(const ml::v1::Job& job, const ValidationContext& context);

/// The rule for labels alone: what jobs.patch may change. Field "job.labels".
[[nodiscard]] Status ValidateLabels(const ml::v1::Job& job);

}  // namespace trainyard::jobs
