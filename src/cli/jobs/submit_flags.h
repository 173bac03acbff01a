#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/command_spec.h"
#include "cli/jobs/job_request.h"

namespace trainyard::cli {

/// The flags of `jobs submit training`, all of gcloud's (alpha and beta included), and the rules between
/// them.
[[nodiscard]] std::span<const FlagSpec> SubmitTrainingFlags();
[[nodiscard]] std::span<const FlagGroup> SubmitTrainingGroups();

/// The flags that describe the job. `project` completes the name of a key; the caller sets region and package
/// URIs. kInvalidArgument if a key is not fully specified. Pure: any thread.
[[nodiscard]] Result<JobFlags> ReadJobFlags(const Arguments& arguments, const std::string& project);

}  // namespace trainyard::cli
