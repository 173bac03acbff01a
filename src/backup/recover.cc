#include "backup/recover.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "async/file.h"
#include "async/take_lock.h"
#include "backup/backup_folder.h"
#include "backup/contents.h"
#include "sqlite/salvage.h"
#include "wire/time.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;

/// Made anew by a server that does not find them: figures, and lines of which the attempts that live have the
/// last ones.
constexpr std::array<std::string_view, 2> kCanDoWithout = {"logs.db", "metrics.db"};

Result<RecoveredDatabase> Recover(const std::string& data, const std::string& name, const std::string& why) {
  const std::string path = data + "/" + name;
  const std::string unfinished = path + ".recovering";
  RecoveredDatabase recovered{.name = name};
  TY_TRY(recovered.aside, sqlite::SetAside(path));
  Result<sqlite::Salvaged> salvaged = sqlite::Salvage(recovered.aside, unfinished);
  if (salvaged) {
    recovered.rows = salvaged->rows;
    recovered.incomplete = std::move(salvaged->incomplete);
    if (std::rename(unfinished.c_str(), path.c_str()) != 0)
      return std::unexpected(ErrnoError(errno, "rename " + unfinished));
    TY_RETURN_IF_ERROR(SyncDirectory(data));
    return recovered;
  }
  std::error_code error;
  fs::remove(unfinished, error);
  recovered.is_made_anew = std::ranges::find(kCanDoWithout, name) != kCanDoWithout.end();
  if (recovered.is_made_anew) return recovered;
  for (const char* suffix : {"", "-wal"}) fs::rename(recovered.aside + suffix, path + suffix, error);
  const std::string last = LastBackup(data, "");
  return std::unexpected(Error{Code::kDataLoss,
                               path + " cannot be read at all (" + why + "): " + salvaged.error().message +
                                   ". Restore " + (last.empty() ? "the last backup" : "the backup " + last) +
                                   " to another directory (trainyard admin restore), or move the file away "
                                   "and run this command again, to "
                                   "begin without what it held",
                               {}});
}

}  // namespace

Result<std::vector<RecoveredDatabase>> RecoverData(const std::string& data,
                                                   const std::function<void(const std::string& name)>& tell) {
  TY_TRY(const UniqueFd lock, OpenFile(data + "/run/lock", O_RDWR | O_CREAT, 0600));
  TY_TRY(const bool is_ours, TakeLock(lock.get()));
  if (!is_ours) return std::unexpected(FailedPrecondition("a server has " + data + ": stop it first"));
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
