#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/process/run_program.h"
#include "base/process/variables.h"
#include "base/wire/json.h"
#include "cli/admin/admin_commands.h"
#include "cli/gcloud/output_format.h"
#include "trainyard/control/v1/admin.pb.h"

namespace trainyard::cli {
namespace {

using control::v1::Doctor;

constexpr std::size_t kReportBytesMax = std::size_t{1} << 20;
constexpr std::chrono::seconds kReportWaitMax{120};

/// The machine's equipment, found by a process of its own (server/doctor/doctor.h).
Result<Doctor> Examine(const std::string& data, const std::string& url, const std::string& lacking) {
  SpawnOptions spawn{.argv = {"/proc/self/exe", "machine-report", data, url, lacking},
                     .environment = OwnVariables()};
  TY_TRY(const RunResult ran, RunProgram(std::move(spawn), kReportBytesMax, kReportWaitMax));
  const std::size_t begin = ran.output.find('{');  // what it says on stderr comes before
  Doctor doctor;
  if (ran.status != trainyard::ExitStatus{} || begin == std::string::npos ||
      !wire::ParseJson(std::string_view(ran.output).substr(begin), doctor, ""))
    return std::unexpected(Internal("this machine could not be checked: " + ran.output));
  return doctor;
}

void AddRow(Doctor& doctor, const std::string& what, Doctor::State state, const std::string& detail,
            const std::string& next) {
  Doctor::Row& row = *doctor.add_rows();
  row.set_what(what);
  row.set_state(state);
  row.set_detail(detail);
  row.set_next(next);
}

/// What the running server says of itself. Not by /readyz: the client would try 503 again and again.
void AddServer(const std::string& url, AdminServer& server, Doctor& doctor) {
  const Result<Json> status = server.Get("status");
  const Json* checks = status ? FindMember(*status, "readiness.checks") : nullptr;
  if (checks == nullptr) {
    doctor.set_can_run_jobs(false);
    AddRow(doctor, "server", Doctor::MISSING,
           url + " does not answer correctly" + (status ? "" : ": " + status.error().message),
           "read its messages (journalctl -u trainyard), and restart it");
    return;
  }
  for (const Json& check : checks->children) {
    const bool ok = TextAt(check, "ok") == "true";
    AddRow(doctor, "server: " + TextAt(check, "name"), ok ? Doctor::OK : Doctor::MISSING,
           TextAt(check, "detail"), ok ? "" : "run trainyard admin status to see when this is fixed");
    if (!ok) doctor.set_can_run_jobs(false);
  }
}

std::string Shown(Doctor::State state) {
  switch (state) {
    case Doctor::OK: return "ok";
    case Doctor::WARNING: return "warning";
    case Doctor::MISSING: return "missing";
    default: return "";
  }
}

void PrintRows(const Doctor& doctor, const Console& console) {
  std::string text;
  for (const Doctor::Row& row : doctor.rows()) {
    text += Shown(row.state()) + std::string(9 - Shown(row.state()).size(), ' ') + row.what() + ": " +
            row.detail() + "\n";
    if (!row.next().empty()) text += std::string(9, ' ') + "  -> " + row.next() + "\n";
  }
  console.Out(text);
  console.Status(doctor.can_run_jobs() ? "Jobs can run here.\n" : "Jobs cannot run here.\n");
}

/// Nothing: no server has the data directory now.
std::optional<AdminServer> FindServer(const LocalSession& session, const std::optional<ServerNote>& note) {
  if (!note || !std::filesystem::exists("/proc/" + std::to_string(note->pid))) return std::nullopt;
  Result<AdminServer> server = AdminServer::Find(session);
  return server ? std::optional(*std::move(server)) : std::nullopt;
}

}  // namespace

ExitStatus ExamineMachine(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const std::string data = AdminDataDir(session.arguments, session.sources);
  const std::optional<ServerNote> note = ReadServerNote(session.sources, data);
  Arguments named = session.arguments;
  named.flags["--data"] = {data};
  std::optional<AdminServer> server = FindServer({named, session.sources, session.console}, note);
  const std::string url = server ? note->url : std::string();
  TY_TRY(Doctor doctor, Examine(data, url, server ? note->lacking : std::string()));
  if (server) AddServer(url, *server, doctor);
  if (format.kind == OutputFormat::Kind::kDefault) {
    PrintRows(doctor, session.console);
  } else {
    TY_TRY(const Json tree, wire::ParseJsonTree(wire::PrintJson(doctor)));
    session.console.Out(PrintResource(tree, format));
  }
  return doctor.can_run_jobs() ? 0 : 1;
}

}  // namespace trainyard::cli
