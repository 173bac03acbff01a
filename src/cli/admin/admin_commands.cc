#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "cli/admin/admin_commands.h"
#include "cli/admin/audit_command.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/gcloud/output_format.h"
#include "cli/interrupt.h"
#include "rules/retention/clock_jumps.h"
#include "stores/backup/recover.h"

namespace trainyard::cli {
namespace {

constexpr const char* kRoot = "/trainyard/v1/admin/";
constexpr std::chrono::milliseconds kPoll{500};
constexpr std::size_t kNamedMax = 3;

std::string NameOf(const Json& job) {
  const std::string trial = TextAt(job, "trialId");
  return TextAt(job, "jobId") + (trial.empty() ? "" : " (trial " + trial + ")");
}

/// "2 jobs run: a, b"
std::string DescribeRunning(const Json& status) {
  const std::vector<Json>& running = ListAt(status, "running");
  const std::size_t count = running.size();
  if (count == 0) return "No job is running";
  std::string text = count == 1 ? "1 job is running: " : std::to_string(count) + " jobs are running: ";
  for (std::size_t i = 0; i < std::min(count, kNamedMax); ++i)
    text += (i == 0 ? "" : ", ") + NameOf(running[i]);
  return text + (count > kNamedMax ? ", ..." : "");
}

std::string DescribeDrain(const Json& drain) {
  if (TextAt(drain, "on") != "true") return "Not draining: new jobs can start.";
  const std::string by = TextAt(drain, "by");
  return "Draining since " + LocalTime(TextAt(drain, "since"), kDateFormat) +
         (by.empty() ? "" : ", turned on by " + by) +
         ": new jobs wait. To let them start again: trainyard admin drain --off";
}

/// Until nothing runs. A line whenever that becomes something else.
ExitStatus WaitUntilNothingRuns(AdminServer& server, const Console& console) {
  const InterruptWatch interrupt;
  std::string said;
  for (;;) {
    TY_TRY(const Json status, server.Get("status"));
    const std::string text = DescribeRunning(status);
    if (ListAt(status, "running").empty()) {
      console.Status("No job is running any more.\n");
      return 0;
    }
    if (text != said) console.Status("Waiting: " + text + "\n");
    said = text;
    if (interrupt.WaitFor(kPoll)) {
      console.Status("The server is still draining. trainyard admin status shows the running jobs.\n");
      return 1;
    }
  }
}

void PrintChecks(const Json& status, const Console& console) {
  if (FindMember(status, "readiness.checks") == nullptr) return;
  Rows rows{{"CHECK", "STATE", "DETAIL"}};
  for (const Json& check : ListAt(status, "readiness.checks"))
    rows.push_back(
        {TextAt(check, "name"), TextAt(check, "ok") == "true" ? "ok" : "FAILS", TextAt(check, "detail")});
  console.Table(rows);
}

std::string Describe(const backup::RecoveredDatabase& database) {
  std::string text = database.name + " is damaged. It was moved to " + database.aside + ". ";
  if (database.is_made_anew) return text + "None of it can be read; the server will create a new one.\n";
  text += std::to_string(database.rows) + " rows were recovered";
  std::string lost;
  for (const std::string& table : database.incomplete) lost += (lost.empty() ? "" : ", ") + table;
  return text + (lost.empty() ? ".\n" : "; rows are missing in " + lost + ".\n");
}

constexpr auto kAuditFlags = WithCommonFlags({
    {"--denied", "", "Show only requests that were denied."},
    {"--limit", "N", "Show at most this many entries. Default: 100.", CheckPositiveInteger},
    {"--principal", "EMAIL", "Show only requests of this user or service account."},
    {"--since", "AGE", "Show only entries that are not older than this: 90s, 30m, 12h, 7d. Default: 1d.",
     CheckAge},
});
constexpr auto kBackupFlags = WithCommonFlags(
    {{"--copy-objects", "",
      "Copy all objects. Without this flag, objects that were stored through the API are hard-linked if the "
      "file system allows it. This needs less disk space, but a job that writes to such an object through "
      "/gcs also changes the backup; a restore lists these objects."},
     {"--with-bucket-dirs", "",
      "Also copy the buckets of serve --bucket-dir. They are restored into the data directory."}});
constexpr auto kRetentionFlags = WithCommonFlags(
    {{"--confirm", "",
      "Confirm that the machine's clock is correct, so that data that is too old by it is removed."}});
constexpr auto kDrainFlags =
    WithCommonFlags({{"--off", "", "Let new jobs start again."},
                     {"--wait", "", "Wait until no job is running, and print the jobs that it waits for."}});

const Command kAdminCommands[] = {
    {.spec = {.path = "admin audit",
              .summary = "Show the audit log of a project, newest entries first.",
              .flags = kAuditFlags,
              .examples = "admin audit --since 7d --principal ann@example.com --denied"},
     .run = ShowAuditLog},
    {.spec = {.path = "admin backup",
              .summary = "Back up the data directory of a running server.",
              .positional = "DIR",
              .flags = kBackupFlags,
              .examples = "admin backup /backup/monday --data /var/lib/trainyard"},
     .run = BackUp},
    {.spec = {.path = "admin doctor",
              .summary = "Check what this machine supports, and show how to fix what is missing.",
              .flags = kCommonFlags,
              .examples = "admin doctor\nadmin doctor --data /var/lib/trainyard --format=json"},
     .run = ExamineMachine},
    {.spec = {.path = "admin drain",
              .summary = "Stop starting new jobs. Running jobs continue.",
              .flags = kDrainFlags,
              .examples = "admin drain --wait\nadmin drain --off"},
     .run = DrainServer},
    {.spec = {.path = "admin recover",
              .summary = "Recover the readable data of damaged databases.",
              .flags = kCommonFlags,
              .examples = "admin recover --data /var/lib/trainyard"},
     .run = RecoverDataDirectory},
    {.spec = {.path = "admin reload",
              .summary = "Make a running server reload its certificate and other files.",
              .flags = kCommonFlags,
              .examples = "admin reload --data /var/lib/trainyard"},
     .run = ReloadServer},
    {.spec = {.path = "admin restore",
              .summary = "Restore a data directory from a backup.",
              .positional = "DIR",
              .flags = kCommonFlags,
              .examples = "admin restore /backup/monday --data /var/lib/trainyard"},
     .run = RestoreFromBackup},
    {.spec = {.path = "admin retention",
              .summary = "Confirm that the machine's clock is correct after it jumped.",
              .flags = kRetentionFlags,
              .examples = "admin retention --confirm --data /var/lib/trainyard"},
     .run = ConfirmRetention},
    {.spec = {.path = "admin status",
              .summary = "Show the running jobs of a server and whether it can accept new ones.",
              .flags = kCommonFlags,
              .examples = "admin status\nadmin status --format=json"},
     .run = ShowAdminStatus},
};

}  // namespace

std::string AdminDataDir(const Arguments& arguments, const SettingSources& sources) {
  std::string path = std::filesystem::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources)))
                         .lexically_normal()
                         .string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<AdminServer> AdminServer::Find(const LocalSession& session) {
  TY_TRY(OutputFormat format, session.Format());
  TY_TRY(ClientSession opened, OpenSession(session, "trainyard"));
  opened.session.format = std::move(format);
  return AdminServer(std::move(opened));
}

Result<bool> AdminServer::UseSocket(const std::string& data) {
  const std::optional<ServerNote> note = ReadServerNote(session().sources, data);
  const std::string socket = data + "/run/admin.sock";
  const std::string& server = session().server.value;
  const bool is_its = note && (note->url == server || note->tls_url == server);
  if (!is_its || ::access(socket.c_str(), W_OK) != 0) return false;
  TY_TRY(local_, MakeApiClient({.url = "unix:" + socket, .token = session().token}));
  return true;
}

Result<Json> AdminServer::Get(const std::string& path) { return CallJson(client(), {.path = kRoot + path}); }

Result<Json> AdminServer::Post(const std::string& path, const Json& body) {
  return PostJson(client(), kRoot + path, body);
}

ExitStatus DrainServer(const LocalSession& session) {
  if (session.arguments.IsOn("--off") && session.arguments.IsOn("--wait"))
    return std::unexpected(UsageError("--wait", "not allowed with argument --off"));
  TY_TRY(AdminServer server, AdminServer::Find(session));
  Json body = JsonObject({{"on", JsonBool(!session.arguments.IsOn("--off"))}});
  TY_TRY(const Json drain, server.Post("drain", body));
  session.console.Status(DescribeDrain(drain) + "\n");
  return session.arguments.IsOn("--wait") ? WaitUntilNothingRuns(server, session.console) : 0;
}

ExitStatus ShowAdminStatus(const LocalSession& session) {
  TY_TRY(AdminServer server, AdminServer::Find(session));
  TY_TRY(const Json status, server.Get("status"));
  const OutputFormat& format = server.session().format;
  if (format.kind != OutputFormat::Kind::kDefault) {
    session.console.Out(PrintResource(status, format));
    return 0;
  }
  const std::string waiting = TextAt(status, "waitingJobs");
  const Json* drain = FindMember(status, "drain");
  session.console.Out("trainyard " + TextAt(status, "version") + " at " + server.session().server.value +
                      "\n" + DescribeDrain(drain == nullptr ? JsonObject() : *drain) + "\n" +
                      DescribeRunning(status) + "; " + (waiting.empty() ? "0" : waiting) + " waiting.\n");
  if (const std::string backup = TextAt(status, "backup.directory"); !backup.empty())
    session.console.Out("Last backup: " + backup + " (" + TextAt(status, "backup.state") + ")\n");
  PrintChecks(status, session.console);
  return 0;
}

ExitStatus ReloadServer(const LocalSession& session) {
  TY_TRY(AdminServer server, AdminServer::Find(session));
  TY_TRY(const Json reload, server.Post("reload", JsonObject()));
  const std::vector<Json>& read = ListAt(reload, "readAgain");
  if (read.empty()) session.console.Status("The server has no files to reload.\n");
  for (const Json& what : read) session.console.Status("Reloaded: " + what.text + "\n");
  return 0;
}

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
  if (recovered.empty()) session.console.Status("All databases are intact.\n");
  session.console.Status(
      "The recovered jobs continue when the server starts. What is left of lost jobs is stopped, and their "
      "numbers are not used again. Start the server: trainyard serve --data " +
      data + "\n");
  return 0;
}

ExitStatus ConfirmRetention(const LocalSession& session) {
  if (!session.arguments.IsOn("--confirm"))
    return std::unexpected(UsageError("--confirm",
                                      "Must be specified. It confirms that the machine's clock is correct "
                                      "and that data that is too old by it may be removed."));
  const std::string data = AdminDataDir(session.arguments, session.sources);
  TY_RETURN_IF_ERROR(WriteFileAtomically(retention::ClockWordFile(data), "", 0600));
  session.console.Status("The server of " + data +
                         " will use the machine's clock from its next check on. Data that is too old is "
                         "removed within the hour.\n");
  return 0;
}

std::span<const Command> AdminCommands() { return kAdminCommands; }

}  // namespace trainyard::cli
