#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Validation for jobs.create: a table of small rules, each with its source, checked in the table's order.
/// Pure: any thread.

namespace trainyard::jobs {

/// The built-in algorithm whose image the master names; null: the user's own program, or an image that the
/// operator maps to another one (`mapped`: patterns, MatchesImage). Static storage. Pure: any thread.
[[nodiscard]] const algorithms::v1::Algorithm* AlgorithmOf(const ml::v1::TrainingInput& input,
                                                           std::span<const std::string> mapped);

/// The features of this installation. A valid job that needs something else is rejected with
/// kFailedPrecondition and a sentence that says what is missing (not with kUnimplemented: clients retry after
/// a 501).
struct ValidationContext {
  bool containers = false;  ///< imageUri
  bool tuning = false;      ///< hyperparameters
  bool gpus = false;        ///< a job may request GPUs: there are some, or the job waits for them
  bool tpus = false;        ///< the same for TPUs

  struct Runtime {
    std::string version;                       ///< "2.11"
    std::vector<std::string> python_versions;  ///< "3.7"
    bool is_variant = false;                   ///< the server chooses it instead of another one: not proposed
  };
  /// The runtime versions that a job may name. Empty: only the form and the documented pairs of
  /// runtimeVersion and pythonVersion are checked.
  std::vector<Runtime> runtimes;  ///< by number; those without one last
  /// The runtime version of a job that names neither a runtime version nor an image; empty: pythonVersion
  /// alone is not checked.
  std::string runtime_default;
  std::string no_containers;  ///< a sentence: why containers are off and how to change that; may be empty
  /// Patterns of images (MatchesImage) that a runtime version replaces if the job has a Python package, too.
  std::vector<std::string> runtime_images;
  /// Patterns of images that the operator maps to others: for these names built-in replacements are not used.
  std::vector<std::string> mapped_images;
};

/// The mistakes found by one rule, in the order of the fields; empty: none.
using Violations = std::vector<Error>;

/// One rule. `check` runs only if the rule that it needs passed, and may rely on that one.
struct ValidationRule {
  std::string_view name;     ///< "job_id"
  std::string_view refuses;  ///< what it rejects, for docs/compatibility.md
  std::string_view source;   ///< where the rule is documented
  Violations (*check)(const ml::v1::Job& job, const ValidationContext& context);
  std::string_view needs = "training_job";  ///< an earlier rule; empty: none
};

/// All rules in the order in which they are checked.
[[nodiscard]] std::span<const ValidationRule> ValidationRules();

/// The error of the first broken rule, in the order of ValidationRules(): kInvalidArgument, or
/// kFailedPrecondition for what the context does not offer. Error.field is the path as Google's service
/// spells it, in snake_case without "training_input": "scheduling.max_wait_time"; "job.job_id", "job.labels"
/// for the job's own. Fields that only the server may set (state, times, ...) are ignored: WithDefaults
/// clears them.
///
/// Not checked here, because it needs a lookup: whether packages can be read; whether a job of that id
/// exists.
[[nodiscard]] Status Validate(const ml::v1::Job& job, const ValidationContext& context);

/// All mistakes, in the same order: Validate's error first. A rule that needs a broken rule is skipped.
[[nodiscard]] Violations FindViolations(const ml::v1::Job& job, const ValidationContext& context);

/// Only the rule for labels, for jobs.patch. Field "job.labels".
[[nodiscard]] Status ValidateLabels(const ml::v1::Job& job);

}  // namespace trainyard::jobs
