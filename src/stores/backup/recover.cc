#include "stores/backup/recover.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/sqlite/salvage.h"
#include "base/wire/time.h"
#include "stores/backup/backup_folder.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;

/// Recreated by a server that does not find them: resource use, and log lines, of which running attempts
/// still have the last ones.
constexpr std::array<std::string_view, 2> kCanDoWithout = {"logs.db", "metrics.db"};

/// What could be read, complete and durable: kept next to the damaged database until that is moved aside.
constexpr std::string_view kReadySuffix = ".recovered";

/// The command may be run by another account than the server's, which has to open the file.
Status GiveToOwnerOf(const std::string& path, const std::string& file) {
  struct stat owner{};
  if (::stat(path.c_str(), &owner) != 0) return std::unexpected(ErrnoError(errno, "stat " + path));
  if (owner.st_uid == ::geteuid() || ::chown(file.c_str(), owner.st_uid, owner.st_gid) == 0) return {};
  return std::unexpected(ErrnoError(errno, "chown " + file));
}

Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return std::unexpected(ErrnoError(errno, "rename " + from));
}

/// Finishes a killed run that had moved the damaged database aside but not yet renamed the recovered one.
Status FinishKilled(const std::string& data) {
  std::vector<std::string> ready;
  for (const fs::directory_entry& entry : fs::directory_iterator(data)) {
    const fs::path& path = entry.path();
    if (path.extension() == kReadySuffix && IsDatabaseName(path.stem().string())) ready.push_back(path);
  }
  for (const std::string& path : ready) {
    const std::string database = path.substr(0, path.size() - kReadySuffix.size());
    std::error_code error;
    if (fs::exists(database, error)) {
      fs::remove(path, error);  // it is read again
    } else {
      TY_RETURN_IF_ERROR(Rename(path, database));
    }
  }
  return {};
}

/// The damaged one keeps its name until everything that can be read of it is on the disk.
Result<RecoveredDatabase> Recover(const std::string& data, const std::string& name, const std::string& why) {
  const std::string path = data + "/" + name;
  const std::string unfinished = path + ".recovering";
  const std::string ready = path + std::string(kReadySuffix);
  RecoveredDatabase recovered{.name = name};
  std::error_code error;
  fs::remove(unfinished + "-journal", error);  // of a run that was killed
  Result<sqlite::SalvageResult> salvaged = sqlite::Salvage(path, unfinished);
  if (salvaged) {
    recovered.rows = salvaged->rows;
    recovered.incomplete = std::move(salvaged->incomplete);
    TY_RETURN_IF_ERROR(GiveToOwnerOf(path, unfinished));
    TY_RETURN_IF_ERROR(Rename(unfinished, ready));
    TY_TRY(recovered.aside, sqlite::SetAside(path));
    TY_RETURN_IF_ERROR(Rename(ready, path));
    TY_RETURN_IF_ERROR(SyncDirectory(data));
    return recovered;
  }
  fs::remove(unfinished, error);
  if (salvaged.error().code != Code::kDataLoss) {
    salvaged.error().message = "what can be read of " + path +
                               " is not taken over, and nothing is changed: " + salvaged.error().message +
                               ". Run this command again when this is repaired";
    return std::unexpected(std::move(salvaged).error());
  }
  recovered.is_made_anew = std::ranges::find(kCanDoWithout, name) != kCanDoWithout.end();
  if (recovered.is_made_anew) {
    TY_TRY(recovered.aside, sqlite::SetAside(path));
    return recovered;
  }
  const std::string last = LastBackup(data, "");
  return std::unexpected(DataLoss(path + " cannot be read at all (" + why + "): " + salvaged.error().message +
                                  ". Restore " + (last.empty() ? "the last backup" : "the backup " + last) +
                                  " to another directory (trainyard admin restore), or move the file away "
                                  "and run this command again, to "
                                  "begin without what it held"));
}

}  // namespace

Result<std::vector<RecoveredDatabase>> RecoverData(const std::string& data,
                                                   const std::function<void(const std::string& name)>& tell) {
  TY_TRY(const UniqueFd lock, OpenFile(data + "/run/lock", O_RDWR | O_CREAT, 0600));
  TY_TRY(const bool is_ours, TakeLock(lock.get()));
  if (!is_ours) return std::unexpected(FailedPrecondition("a server has " + data + ": stop it first"));
  TY_RETURN_IF_ERROR(GiveToOwnerOf(data, data + "/run/lock"));
  TY_RETURN_IF_ERROR(FinishKilled(data));
  std::vector<RecoveredDatabase> recovered;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(data)) {
    const std::string name = entry.path().filename();
    if (IsDatabaseName(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    tell(name);
    const Status whole = sqlite::CheckWhole(data + "/" + name);
    if (whole) continue;
    if (whole.error().code != Code::kDataLoss) return std::unexpected(whole.error());
    TY_TRY(RecoveredDatabase one, Recover(data, name, whole.error().message));
    recovered.push_back(std::move(one));
  }
  TY_RETURN_IF_ERROR(WriteFileAtomically(RecoveredWordFile(data), "", 0600));
  return recovered;
}

std::string RecoveredWordFile(const std::string& data) { return data + "/run/jobs-are-recovered"; }

std::string LastBackup(const std::string& data, const std::string& folder) {
  std::string last;
  SysTime last_time{};
  for (const std::string& place : {data + "/" + std::string(kOwnBackups), folder}) {
    std::error_code error;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
      const auto manifest = ReadManifest(entry->path());
      if (!manifest) continue;
      const SysTime time = wire::FromProto(manifest->time());
      if (time > last_time) std::tie(last, last_time) = std::pair(entry->path().string(), time);
    }
  }
  return last;
}

}  // namespace trainyard::backup
