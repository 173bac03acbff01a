#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What of a data directory is in a backup. Pure: any thread. Source: docs/operators.md, "The data
/// directory".
namespace trainyard::backup {

enum class Treatment {
  kDatabase,  ///< copied as of one instant
  kObjects,   ///< linked where that is safe, else copied
  kCopy,
  kLeaveOut,  ///< made anew when it is needed, or of this machine and moment alone
};

/// Of an entry of the data directory. What no server makes is left out, and so is what gives its reader this
/// server (admin-token: a start without one makes another).
[[nodiscard]] Treatment TreatmentOf(std::string_view entry);

/// Files and folders below entries that are otherwise left out: "run/secret". Those that are not there are no
/// error.
[[nodiscard]] std::vector<std::string> KeptBelow();

/// Entries that are left out although they hold data, for the operator.
[[nodiscard]] std::vector<std::string> LeftOut();

/// Where a data directory keeps backups of its own; they are not copied into each other.
inline constexpr std::string_view kOwnBackups = "backups";

/// Whether a backup has a database or a tree of this name: no path leads out of its folder. "access.db";
/// "buckets", "run/secret", "bucket-dirs/NAME".
[[nodiscard]] bool IsDatabaseName(std::string_view name);
[[nodiscard]] bool IsTreeName(std::string_view name);
/// Beside them, of backups by earlier versions, which copied all that they found: no error, and not taken.
[[nodiscard]] bool IsStrayName(std::string_view name);

/// Buckets elsewhere, each a folder of its name.
inline constexpr std::string_view kBucketDirs = "bucket-dirs/";

/// Whether a backup of `data` may be made in `folder`: not in the data directory but for kOwnBackups, and not
/// around it. Both absolute and normal, without links.
[[nodiscard]] bool MayHold(std::string_view folder, std::string_view data);

}  // namespace trainyard::backup
