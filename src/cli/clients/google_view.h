#pragma once

#include <string>
#include <vector>

#include "base/process/variables.h"
#include "cli/client_settings.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "programs/sandbox/network/connect_door.h"

namespace trainyard::cli {

/// How a command sees Google's names as a server of this machine: the replicas' recipe
/// (programs/runtimes/google_channels.h), for a user's own programs.
struct GoogleView {
  std::vector<replica::FileView::Bind> binds;  ///< the authorities that programs trust
  std::string hosts;                           ///< text of /etc/hosts
  std::vector<replica::ConnectDoor> doors;     ///< to the server's ports, where it could not have Google's
  VariableChanges variables;
};

struct OwnFiles {
  std::string credentials;  ///< for libraries, in place of the user's own; empty: the metadata server's are
  std::string token_file;   ///< for gcloud; empty: it sends none
  std::string boto_file;    ///< gsutil's settings; empty: those of the front
};

/// @param note  of a server that has a front for workstations.
/// @param own  files with which the command logs in. Looks at the machine's files.
[[nodiscard]] GoogleView MakeGoogleView(const ServerNote& note, const std::string& data_dir,
                                        const std::string& project, const OwnFiles& own,
                                        const SettingSources& sources);

}  // namespace trainyard::cli
