#pragma once

#include <string>

#include "base/result.h"
#include "control/accounts.h"
#include "rules/iam/resource.h"

/// Checks the service account of a new job before it is created, since its programs would meet a missing
/// right hours later. The functions depend on their arguments and on what `accounts` knows.
namespace trainyard::control {

/// kNotFound with field "service_account", and the command that creates it.
[[nodiscard]] Status CheckAccountExists(const Accounts& accounts, const std::string& email);

/// kFailedPrecondition with the field, in the original's words: the account may not read objects of the
/// package's bucket. Source: spec api.md section 8.
/// @param field  that names the package: "package_uris"
[[nodiscard]] Status CheckAccountReads(const Accounts& accounts, const std::string& email,
                                       const std::string& uri, const std::string& bucket,
                                       const std::string& field);

/// kFailedPrecondition with field "job_dir": the account may not read and write objects of the bucket.
/// @param resource  the bucket; its project, if the bucket is yet to be made.
[[nodiscard]] Status CheckAccountWrites(const Accounts& accounts, const std::string& email,
                                        const std::string& bucket, const iam::Resource& resource);

}  // namespace trainyard::control
