#pragma once

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Passes the values of secrets from the attempt host to the supervisor: in a file without a name, so that
/// the manifest on disk does not contain them. Any thread.
namespace trainyard::replica {

/// Moves the values of the manifest's secrets into a file in memory, for the supervisor's standard input.
/// Empty if there are none.
[[nodiscard]] Result<UniqueFd> TakeSecretValues(v1::Manifest& manifest);

/// Puts the values back into the manifest, in the supervisor; reads nothing for a manifest without secrets.
/// kDataLoss: some are missing.
[[nodiscard]] Status ReadSecretValues(int descriptor, v1::Manifest& manifest);

}  // namespace trainyard::replica
