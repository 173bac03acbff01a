#include <string>
#include <vector>

#include "cli/admin/admin_commands.h"
#include "cli/admin/admin_server.h"
#include "stores/backup/recover.h"

namespace trainyard::cli {
namespace {

std::string Describe(const backup::RecoveredDatabase& database) {
  std::string text = database.name + " is damaged and kept as " + database.aside + ". ";
  if (database.is_made_anew) return text + "Nothing of it can be read; the server makes a new one.\n";
  text += std::to_string(database.rows) + " rows are taken over";
  std::string lost;
  for (const std::string& table : database.incomplete) lost += (lost.empty() ? "" : ", ") + table;
  return text + (lost.empty() ? ".\n" : "; something is missing in " + lost + ".\n");
}

}  // namespace

ExitStatus RecoverDataDirectory(const LocalSession& session) {
  if (!session.arguments.Has("--data"))
    return std::unexpected(
        UsageError("--data", "Must be specified: the data directory of a stopped server."));
  const std::string data = AdminDataDir(session.arguments, session.sources);
  const auto tell = [&session](const std::string& name) {
    session.console.Status("Checking " + name + "\n");
  };
  TY_TRY(const std::vector<backup::RecoveredDatabase> recovered, backup::RecoverData(data, tell));
  for (const backup::RecoveredDatabase& database : recovered) session.console.Warn(Describe(database));
  if (recovered.empty()) session.console.Status("All databases that are there are whole.\n");
  session.console.Status(
      "The next server goes on with the jobs that are there, ends what is left of others, and gives none "
      "of their numbers out again: trainyard serve --data " +
      data + "\n");
  return 0;
}

}  // namespace trainyard::cli
