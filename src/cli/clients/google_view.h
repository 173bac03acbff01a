#pragma once

#include <string>
#include <vector>

#include "cli/client_settings.h"
#include "process/variables.h"
#include "sandbox/connect_door.h"
#include "sandbox/file_view.h"

namespace trainyard::cli {

/// How a command sees Google's names as a server of this machine: the replicas' recipe
/// (runtimes/google_channels.h), for a user's own programs.
struct GoogleView {
  std::vector<replica::FileView::Bind> binds;  ///< the authorities that programs trust
  std::string hosts;                           ///< text of /etc/hosts
  std::vector<replica::ConnectDoor> doors;     ///< to the server's ports, where it could not have Google's
  VariableChanges variables;
};

/// @param note  of a server that has a front for workstations.
/// @param credentials  file that stands for the user's own credentials; empty: they have none.
/// Looks at the machine's files.
[[nodiscard]] GoogleView MakeGoogleView(const ServerNote& note, const std::string& data_dir,
                                        const std::string& project, const std::string& credentials,
                                        const SettingSources& sources);

}  // namespace trainyard::cli
