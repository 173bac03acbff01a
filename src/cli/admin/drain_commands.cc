#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "cli/admin/admin_commands.h"
#include "cli/admin/admin_server.h"
#include "cli/gcloud/output_format.h"
#include "cli/interrupt.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::milliseconds kPoll{500};
constexpr std::size_t kNamedMax = 3;

std::size_t RunningCount(const Json& status) {
  const Json* running = FindMember(status, "running");
  return running == nullptr ? 0 : running->children.size();
}

std::string NameOf(const Json& job) {
  const std::string trial = TextAt(job, "trialId");
  return TextAt(job, "jobId") + (trial.empty() ? "" : " (trial " + trial + ")");
}

/// "2 jobs run: a, b"
std::string DescribeRunning(const Json& status) {
  const std::size_t count = RunningCount(status);
  if (count == 0) return "Nothing runs";
  std::string text = count == 1 ? "1 job runs: " : std::to_string(count) + " jobs run: ";
  const std::vector<Json>& running = FindMember(status, "running")->children;
  for (std::size_t i = 0; i < std::min(count, kNamedMax); ++i)
    text += (i == 0 ? "" : ", ") + NameOf(running[i]);
  return text + (count > kNamedMax ? ", ..." : "");
}

std::string DescribeDrain(const Json& drain) {
  if (TextAt(drain, "on") != "true") return "Not draining: jobs are started.";
  const std::string by = TextAt(drain, "by");
  return "Draining since " + LocalTime(TextAt(drain, "since"), kDateFormat) +
         (by.empty() ? "" : ", turned on by " + by) +
         ": no new job starts. To start them again: trainyard admin drain --off";
}

/// Until nothing runs. A line whenever that becomes something else.
ExitStatus WaitUntilNothingRuns(AdminServer& server, const Console& console) {
  const InterruptWatch interrupt;
  std::string said;
  for (;;) {
    TY_TRY(const Json status, server.Get("status"));
    const std::string text = DescribeRunning(status);
    if (RunningCount(status) == 0) {
      console.Status("Nothing runs any more.\n");
      return 0;
    }
    if (text != said) console.Status("Waiting: " + text + "\n");
    said = text;
    if (interrupt.WaitFor(kPoll)) {
      console.Status("The server goes on draining; trainyard admin status shows what runs.\n");
      return 1;
    }
  }
}

void PrintChecks(const Json& status, const Console& console) {
  const Json* checks = FindMember(status, "readiness.checks");
  if (checks == nullptr) return;
  Rows rows{{"CHECK", "STATE", "DETAIL"}};
  for (const Json& check : checks->children)
    rows.push_back(
        {TextAt(check, "name"), TextAt(check, "ok") == "true" ? "ok" : "FAILS", TextAt(check, "detail")});
  console.Table(rows);
}

}  // namespace

ExitStatus DrainServer(const LocalSession& session) {
  if (session.arguments.IsOn("--off") && session.arguments.IsOn("--wait"))
    return std::unexpected(UsageError("--wait", "not allowed with argument --off"));
  TY_TRY(const std::unique_ptr<AdminServer> server, AdminServer::Find(session));
  Json body = JsonObject();
  SetMember(body, "on", JsonBool(!session.arguments.IsOn("--off")));
  TY_TRY(const Json drain, server->Post("drain", body));
  session.console.Status(DescribeDrain(drain) + "\n");
  return session.arguments.IsOn("--wait") ? WaitUntilNothingRuns(*server, session.console) : 0;
}

ExitStatus ShowAdminStatus(const LocalSession& session) {
  TY_TRY(const std::unique_ptr<AdminServer> server, AdminServer::Find(session));
  TY_TRY(const Json status, server->Get("status"));
  const OutputFormat& format = server->session().format;
  if (format.kind != OutputFormat::Kind::kDefault) {
    session.console.Out(PrintResource(status, format));
    return 0;
  }
  const std::string waiting = TextAt(status, "waitingJobs");
  const Json* drain = FindMember(status, "drain");
  session.console.Out("trainyard " + TextAt(status, "version") + " at " + server->session().server.value +
                      "\n" + DescribeDrain(drain == nullptr ? JsonObject() : *drain) + "\n" +
                      DescribeRunning(status) + "; " + (waiting.empty() ? "0" : waiting) + " waiting.\n");
  if (const std::string backup = TextAt(status, "backup.directory"); !backup.empty())
    session.console.Out("Last backup: " + backup + " (" + TextAt(status, "backup.state") + ")\n");
  PrintChecks(status, session.console);
  return 0;
}

ExitStatus ReloadServer(const LocalSession& session) {
  TY_TRY(const std::unique_ptr<AdminServer> server, AdminServer::Find(session));
  TY_TRY(const Json reload, server->Post("reload", JsonObject()));
  const Json* read = FindMember(reload, "readAgain");
  if (read == nullptr || read->children.empty()) {
    session.console.Status("This server has nothing to read again.\n");
    return 0;
  }
  for (const Json& what : read->children) session.console.Status("Read again: " + what.text + "\n");
  return 0;
}

}  // namespace trainyard::cli
