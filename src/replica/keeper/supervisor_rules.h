#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "replica/keeper/keeper_message.h"

/// The only programs that the keeper starts, for any client. Pure: any thread.
namespace trainyard::keeper {

/// A supervisor's options, and its attempt's directory.
inline constexpr int kArgumentsMax = 16;

/// The command to start for such a request: the keeper's own program as a supervisor, `trainyard replica
/// [--NAME=NUMBER]... /ATTEMPT`. Its variables are the keeper's own; of the request's, only those that set
/// where builds download from and the programs' language. kPermissionDenied: the request is for something
/// else.
///
/// @param program    the keeper's own path: absolute. If an upgrade has replaced it, the new one is started.
/// @param variables  the keeper's own, "NAME=value"
[[nodiscard]] Result<StartRequest> AsSupervisor(StartRequest request, const std::string& program,
                                                const std::vector<std::string>& variables);

}  // namespace trainyard::keeper
