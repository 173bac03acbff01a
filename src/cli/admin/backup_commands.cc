#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "cli/admin/admin_commands.h"
#include "cli/interrupt.h"
#include "programs/image/cache.h"
#include "stores/backup/restore_backup.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::milliseconds kBackupPoll{100};
/// Redraws the line: the cursor to its beginning, and the rest erased.
constexpr const char* kRedraw = "\r\033[K";

std::string AbsolutePath(const std::string& text) {
  std::string path = std::filesystem::absolute(text).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// The server follows none: who types the path knows where its links lead.
std::string WithoutLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

std::string BytesAt(const Json& object, std::string_view path) {
  return image::PrintBytes(std::strtoll(TextAt(object, path).c_str(), nullptr, 10));
}

std::string Counted(const std::string& number, const std::string& what) {
  return (number.empty() ? "0" : number) + " " + what + (number == "1" ? "" : "s");
}

/// "trainyard.db: 12 MB of 40 MB, 3 files"
std::string ProgressText(const Json& backup) {
  return TextAt(backup, "phase") + ": databases " + BytesAt(backup, "doneBytes") + " of " +
         BytesAt(backup, "totalBytes") + ", " + Counted(TextAt(backup, "files"), "file") + " (" +
         BytesAt(backup, "fileBytes") + ")";
}

/// What it holds and what it does not.
std::string SummaryOf(const Json& backup) {
  std::string text = "Backup of " + TextAt(backup, "manifest.dataDirectory") + " as of " +
                     TextAt(backup, "manifest.time") + " in " + TextAt(backup, "directory") + ": databases " +
                     BytesAt(backup, "totalBytes") + ", " + Counted(TextAt(backup, "files"), "file") + " (" +
                     BytesAt(backup, "fileBytes") + ").\n";
  std::string left_out;
  for (const Json& name : ListAt(backup, "manifest.leftOut"))
    left_out += (left_out.empty() ? "" : ", ") + name.text;
  text += "Not included, because the server creates them again when they are needed: " + left_out + ".\n";
  if (TextAt(backup, "manifest.hasBucketDirs") != "true") {
    for (const Json& bucket : ListAt(backup, "manifest.bucketDirs"))
      text += "Not copied: bucket " + bucket.name +
              ", which is outside the data directory (--with-bucket-dirs copies it).\n";
  }
  return text;
}

ExitStatus WaitForBackup(AdminServer& server, const Console& console) {
  const InterruptWatch interrupt;
  for (;;) {
    TY_TRY(const Json backup, server.Get("backup"));
    const std::string state = TextAt(backup, "state");
    if (state == "RUNNING") {
      console.Transient(kRedraw + wire::VisibleText(ProgressText(backup)));
      if (!interrupt.WaitFor(kBackupPoll)) continue;
      console.Transient(kRedraw);
      console.Status("The server continues the backup. trainyard admin status shows its state.\n");
      return 1;
    }
    console.Transient(kRedraw);
    if (state != "SUCCEEDED")
      return std::unexpected(Error{Code::kUnknown, "The backup failed: " + TextAt(backup, "error"), ""});
    console.Status(SummaryOf(backup));
    return 0;
  }
}

/// What the operator has to know of what is restored.
void SayWhatHappensNext(const backup::RestoreReport& report, const std::string& data,
                        const Console& console) {
  const control::v1::BackupManifest& manifest = report.manifest;
  console.Status("Restored " + std::to_string(manifest.databases_size()) + " databases and " +
                 Counted(std::to_string(report.files), "file") + " to " + data + ", as of " +
                 wire::PrintTime(wire::FromProto(manifest.time())) + ".\n");
  if (manifest.unfinished_jobs() > 0) {
    console.Status(Counted(std::to_string(manifest.unfinished_jobs()), "job") +
                   " had not finished. Jobs that were waiting wait again. Replicas that were running start "
                   "again, which counts as a restart. On the machine of the backup, no replica starts while "
                   "the job is still running there.\n");
  }
  for (const auto& [name, folder] : manifest.bucket_dirs()) {
    console.Status(manifest.has_bucket_dirs()
                       ? "Bucket " + name + " was at " + folder + " and is in the data directory now.\n"
                       : "Bucket " + name + " is not in the backup: start the server with --bucket-dir " +
                             name + "=PATH (it was " + folder + ").\n");
  }
  if (report.changed_count > 0) {
    std::string names;
    for (const std::string& name : report.changed) names += "\n  " + name;
    console.Warn(Counted(std::to_string(report.changed_count), "object") +
                 " was changed by a job after the backup, because the backup shared the file. The changed "
                 "version is restored:" +
                 names);
  }
  console.Status("Start the server: trainyard serve --data " + data + "\n");
}

}  // namespace

ExitStatus BackUp(const LocalSession& session) {
  TY_TRY(AdminServer server, AdminServer::Find(session));
  TY_TRY(const bool is_here, server.UseSocket(AdminDataDir(session.arguments, session.sources)));
  const std::string path = AbsolutePath(session.arguments.positionals.front());
  Json body = JsonObject({{"directory", JsonString(is_here ? WithoutLinks(path) : path)},
                          {"withBucketDirs", JsonBool(session.arguments.IsOn("--with-bucket-dirs"))},
                          {"copyObjects", JsonBool(session.arguments.IsOn("--copy-objects"))}});
  TY_RETURN_IF_ERROR(server.Post("backup", body));
  return WaitForBackup(server, session.console);
}

ExitStatus RestoreFromBackup(const LocalSession& session) {
  if (!session.arguments.Has("--data"))
    return std::unexpected(UsageError("--data", "Must be specified: the data directory to create."));
  const std::string data = AdminDataDir(session.arguments, session.sources);
  const auto tell = [&session](const std::string& name) {
    session.console.Transient(kRedraw + std::string("Restoring ") + wire::VisibleText(name));
  };
  const auto report = backup::RestoreBackup(AbsolutePath(session.arguments.positionals.front()), data, tell);
  session.console.Transient(kRedraw);
  if (!report) return std::unexpected(report.error());
  SayWhatHappensNext(*report, data, session.console);
  return 0;
}

}  // namespace trainyard::cli
