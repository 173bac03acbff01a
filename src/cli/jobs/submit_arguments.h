#pragma once

#include <string>

#include "base/result.h"
#include "cli/gcloud/arguments.h"
#include "cli/jobs/job_request.h"

namespace trainyard::cli {

/// The job's part of the command line. `project` completes a key's name; region and package URIs are left to
/// the caller. kInvalidArgument: a key that is not fully specified. Pure: any thread.
[[nodiscard]] Result<JobFlags> ReadJobFlags(const Arguments& arguments, const std::string& project);

}  // namespace trainyard::cli
