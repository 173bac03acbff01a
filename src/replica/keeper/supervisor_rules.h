#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replica/keeper/keeper_message.h"

/// What the keeper starts, whoever asks. Pure: any thread.
namespace trainyard::keeper {

/// Options of a supervisor, and its attempt's folder.
inline constexpr int kArgumentsMax = 16;

/// What is started for such a request: the keeper's own program as a supervisor, `trainyard replica
/// [--NAME=NUMBER]... /ATTEMPT`. Its variables are the keeper's own; of the request's only those that say
/// where builds fetch from, and in which language programs speak. kPermissionDenied: the request is for
/// something else.
///
/// @param program    the keeper's own: absolute. An upgrade may have put a new one there, which is meant.
/// @param variables  the keeper's own, "NAME=value"
[[nodiscard]] Result<StartRequest> AsSupervisor(StartRequest request, const std::string& program,
                                                const std::vector<std::string>& variables);

}  // namespace trainyard::keeper
