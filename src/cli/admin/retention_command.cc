#include <string>

#include "base/async/file.h"
#include "cli/admin/admin_commands.h"
#include "cli/admin/admin_server.h"
#include "rules/retention/clock_jumps.h"

namespace trainyard::cli {

ExitStatus ConfirmRetention(const LocalSession& session) {
  if (!session.arguments.IsOn("--confirm"))
    return std::unexpected(UsageError("--confirm",
                                      "Must be specified: the machine's clock is right, and what is "
                                      "too old by it may be removed."));
  const std::string data = AdminDataDir(session.arguments, session.sources);
  TY_RETURN_IF_ERROR(WriteFileAtomically(retention::ClockWordFile(data), "", 0600));
  session.console.Status("The server of " + data +
                         " goes by the machine's clock from its next look on; what is too old by it "
                         "is removed within the hour.\n");
  return 0;
}

}  // namespace trainyard::cli
