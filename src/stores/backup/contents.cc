#include "stores/backup/contents.h"

#include <algorithm>
#include <array>

#include "base/wire/resource_name.h"

namespace trainyard::backup {

namespace {

/// Large, and recreated when needed.
constexpr std::array<std::string_view, 3> kMadeAnew = {"environments", "images", "attempts"};
/// All databases of a server, and the only ones that a restore accepts: SQLite also reads files whose names
/// are a database's with a suffix, and a rollback journal names files that it removes.
constexpr std::array<std::string_view, 6> kDatabases = {"trainyard.db", "objects.db", "studies.db",
                                                        "logs.db",      "metrics.db", "access.db"};
constexpr std::array<std::string_view, 7> kTrees = {
    "audit", "last-seen.json", "project-use.json", "registries", "secrets", "tls", "uploads"};
/// Files that each start writes, and files of this machine's operator: copies of older schemas, the order to
/// start nothing; and the name under which a cluster knows this directory, which a copy must not share.
constexpr std::array<std::string_view, 9> kOfThisMachine = {
    "run",        "front",         kOwnBackups,          "schema-copies",
    "drain.json", "restored.json", "restore-unfinished", "unfinished-backup",
    "engines.db"};

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsOneOf(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

}  // namespace

Treatment TreatmentOf(std::string_view entry) {
  if (IsOneOf(entry, kDatabases)) return Treatment::kDatabase;
  if (entry == "buckets") return Treatment::kObjects;
  return IsOneOf(entry, kTrees) ? Treatment::kCopy : Treatment::kLeaveOut;
}

std::vector<std::string> KeptBelow() { return {"run/secret", "environments/runtimes.d"}; }

bool IsDatabaseName(std::string_view name) { return TreatmentOf(name) == Treatment::kDatabase; }

bool IsTreeName(std::string_view name) {
  if (name.starts_with(kBucketDirs))
    return wire::ValidateBucketName(std::string(name.substr(kBucketDirs.size()))).has_value();
  const Treatment treatment = TreatmentOf(name);
  return IsOneOf(name, KeptBelow()) || treatment == Treatment::kCopy || treatment == Treatment::kObjects;
}

bool IsStrayName(std::string_view name) {
  const bool is_component =
      !name.empty() && name != "." && name != ".." && !name.contains('/') && !name.contains('\0');
  return is_component && !name.contains(".db") && TreatmentOf(name) == Treatment::kLeaveOut &&
         !IsOneOf(name, kMadeAnew) && !IsOneOf(name, kOfThisMachine);
}

std::vector<std::string> LeftOut() { return {kMadeAnew.begin(), kMadeAnew.end()}; }

bool MayHold(std::string_view folder, std::string_view data) {
  if (IsBelow(data, folder)) return false;
  if (!IsBelow(folder, data)) return true;
  const std::string own = std::string(data) + "/" + std::string(kOwnBackups);
  return folder != own && IsBelow(folder, own);
}

}  // namespace trainyard::backup
