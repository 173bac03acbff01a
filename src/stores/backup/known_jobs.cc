#include "stores/backup/known_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/sqlite/salvage.h"
#include "rules/cluster/task_name.h"
#include "stores/backup/recover.h"
#include "stores/logs/log_database.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;

constexpr const char* kJobs = "/trainyard.db";
/// Written by a server that has created all databases: a first start may have been killed before.
constexpr const char* kServed = "/run/server.json";

struct Held {
  const char* name;
  const char* what;
};
constexpr std::array<Held, 5> kHeld{{
    {"logs.db", "the lines of all jobs up to now"},
    {"metrics.db", "the figures of all jobs up to now"},
    {"access.db", "all accounts, tokens and policies"},
    {"objects.db", "the types, metadata and generations of all objects"},
    {"studies.db", "all studies and their trials"},
}};

/// ": logs.db knows jobs up to number 7 (p/census), attempts/ has 2 attempts".
std::string Describe(const KnownJobs& known) {
  std::string text = "the other files know jobs up to number " + std::to_string(known.uid_max);
  if (!known.newest.empty()) text += " (" + known.newest + ")";
  if (known.attempts > 0)
    text += ", and " + std::to_string(known.attempts) + " attempts of replicas, some of which may be running";
  return text;
}

std::string WhatToDo(const std::string& data, const KnownJobs& known) {
  return "Put the file back, or restore " +
         (known.last_backup.empty() ? std::string("the last backup") : "the backup " + known.last_backup) +
         " to another directory (trainyard admin restore DIR --data NEW), or continue with the remaining "
         "data: trainyard admin recover --data " +
         data;
}

bool IsEmpty(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error || size == 0;
}

}  // namespace

KnownJobs LookForJobs(const std::string& data, const std::string& backup_dir) {
  KnownJobs known;
  std::error_code error;
  for (const char* name : {"/logs.db", "/access.db", "/objects.db"})
    known.had_databases = known.had_databases || !IsEmpty(data + name);
  if (const auto newest = logs::NewestJob(data + "/logs.db"); newest && *newest) {
    known.uid_max = (*newest)->uid;
    known.newest = (*newest)->project + "/" + (*newest)->job_id;
  }
  for (fs::directory_iterator entry(data + "/attempts", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = cluster::ParseAttemptId(entry->path().filename().string());
    if (!name) continue;
    ++known.attempts;
    if (name->job_uid > known.uid_max) known.newest.clear();
    known.uid_max = std::max(known.uid_max, name->job_uid);
  }
  known.operator_has_spoken = fs::exists(RecoveredWordFile(data), error);
  known.last_backup = LastBackup(data, backup_dir);
  return known;
}

Status CheckJobsFile(const std::string& data, const KnownJobs& known) {
  if (!IsEmpty(data + kJobs) || known.operator_has_spoken) return {};
  if (!known.had_databases && known.uid_max == 0) return {};
  return std::unexpected(FailedPrecondition(data + kJobs + " is missing: " + Describe(known) +
                                            ". No server starts without it, since that would end all jobs. " +
                                            WhatToDo(data, known)));
}

Error ExplainDamage(Error error, const std::string& data, const std::string& name, const KnownJobs& known) {
  if (error.code != Code::kDataLoss) return error;
  error.message = data + "/" + name + " is damaged (" + error.message + "); " + Describe(known) + ". " +
                  WhatToDo(data, known) + ", which takes over what can be read and keeps the damaged file";
  return error;
}

Status CheckReadable(const std::string& data, const KnownJobs& known) {
  for (const char* name : {"trainyard.db", "access.db", "objects.db", "studies.db"}) {
    const Status readable = sqlite::CheckReadable(data + "/" + name);
    if (!readable && readable.error().code == Code::kDataLoss)
      return std::unexpected(ExplainDamage(readable.error(), data, name, known));
  }
  return {};
}

Status CheckNumbers(store::JobStore& jobs, const std::string& data, const KnownJobs& known) {
  TY_TRY(const std::int64_t last, jobs.LastUid());
  if (known.operator_has_spoken) {
    TY_RETURN_IF_ERROR(jobs.SkipUids(known.uid_max));
    ::unlink(RecoveredWordFile(data).c_str());
    Diagnose(DiagnosticLevel::kWarning,
             "continuing with the jobs in trainyard.db, as the operator decided (trainyard admin recover): "
             "attempts of other jobs are stopped and removed");
    return {};
  }
  if (known.uid_max <= last) return {};
  return std::unexpected(FailedPrecondition(data + kJobs + " has lost jobs: it ends with number " +
                                            std::to_string(last) + ", and " + Describe(known) +
                                            ". No server starts with it, since that would end those jobs. " +
                                            WhatToDo(data, known)));
}

Status CheckDatabaseFiles(const std::string& data) {
  for (const char* name :
       {"trainyard.db", "logs.db", "metrics.db", "access.db", "objects.db", "studies.db"}) {
    for (const char* part : {"", "-wal", "-shm"}) {
      std::error_code error;
      const std::string path = data + "/" + name + part;
      const fs::file_type type = fs::status(path, error).type();
      if (type == fs::file_type::regular || type == fs::file_type::not_found || type == fs::file_type::none)
        continue;
      return std::unexpected(FailedPrecondition(
          path +
          " is not a file: move it away, and put the file back whose name it has, then start again; a "
          "backup has one of the database (trainyard admin restore)"));
    }
  }
  return {};
}

std::vector<std::string> WhatIsGone(const std::string& data) {
  std::vector<std::string> lines;
  if (IsEmpty(data + kJobs) || IsEmpty(data + kServed)) return lines;
  for (const auto& [name, what] : kHeld) {
    if (!IsEmpty(data + "/" + name)) continue;
    lines.push_back(data + "/" + name + " is missing: it is created again, and " + what +
                    " are gone. If it was moved away, stop the server and put it back in its place; a backup "
                    "has one, too (trainyard admin restore)");
  }
  return lines;
}

Status SetAsideIfDamaged(const std::string& path, const std::string& loss) {
  const Status readable = sqlite::CheckReadable(path);
  if (readable || readable.error().code != Code::kDataLoss) return {};
  TY_TRY(const std::string aside, sqlite::SetAside(path));
  Diagnose(DiagnosticLevel::kError, path + " is damaged (" + readable.error().message + "): it is kept as " +
                                        aside + " and made anew. " + loss +
                                        " What can still be read of it: trainyard admin recover, after it is "
                                        "moved back while the server is stopped");
  return {};
}

}  // namespace trainyard::backup
