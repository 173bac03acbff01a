#include "backup/contents.h"

#include <algorithm>
#include <array>

namespace trainyard::backup {

namespace {

/// Large, and made anew when they are needed.
constexpr std::array<std::string_view, 3> kMadeAnew = {"environments", "images", "attempts"};
/// What each start writes, and what belongs to this machine's operator: copies of older schemas, the order to
/// start nothing; and under which name a cluster knows this directory, which a copy must not share.
constexpr std::array<std::string_view, 9> kOfThisMachine = {
    "run",        "front",         kOwnBackups,          "schema-copies",
    "drain.json", "restored.json", "restore-unfinished", "unfinished-backup",
    "engines.db"};

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

Treatment TreatmentOf(std::string_view entry) {
  // A database's log is in the copy of the database.
  if (entry.ends_with(".db-wal") || entry.ends_with(".db-shm")) return Treatment::kLeaveOut;
  if (std::ranges::find(kMadeAnew, entry) != kMadeAnew.end() ||
      std::ranges::find(kOfThisMachine, entry) != kOfThisMachine.end())
    return Treatment::kLeaveOut;
  if (entry.ends_with(".db")) return Treatment::kDatabase;
  return entry == "buckets" ? Treatment::kObjects : Treatment::kCopy;
}

std::vector<std::string> KeptBelow() { return {"run/secret", "environments/runtimes.d"}; }

std::vector<std::string> LeftOut() { return {kMadeAnew.begin(), kMadeAnew.end()}; }

bool MayHold(std::string_view folder, std::string_view data) {
  if (IsBelow(data, folder)) return false;
  if (!IsBelow(folder, data)) return true;
  const std::string own = std::string(data) + "/" + std::string(kOwnBackups);
  return folder != own && IsBelow(folder, own);
}

}  // namespace trainyard::backup
