#pragma once

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// How the values of secrets get from the attempt host to the supervisor: in a file without a name, so that
/// the manifest on disk has none of them. Any thread.
namespace trainyard::replica {

/// Moves the values of the manifest's secrets into a file in memory, for the supervisor's standard input.
/// Empty if there are none.
[[nodiscard]] Result<UniqueFd> TakeSecretValues(v1::Manifest& manifest);

/// Puts them back, in the supervisor; nothing is read for a manifest without secrets. kDataLoss: not all of
/// them are there.
[[nodiscard]] Status ReadSecretValues(int descriptor, v1::Manifest& manifest);

}  // namespace trainyard::replica
