#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// The only way to open anything below the buckets' root. User code writes there: if it replaces a directory
/// (by a link to /etc) or a file (by a link, a pipe, a device), that is not followed and not opened.
/// Everything is relative to an open directory, so swapping a directory does not change what was opened.
/// Blocking; any thread. Source: openat2(2); docs/adr/0003-buckets-are-folders.md.
namespace trainyard {

enum class BeneathWay {
  kBest,  ///< openat2 with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS if the kernel has it
  kSteps,  ///< one component after the other with O_NOFOLLOW
};

/// Opens the directory below `folder` at the end of `names` for reading; `folder` itself if `names` is empty.
/// Any number of names: they may be longer than a path.
///
/// @param names  one component each. kNotFound: one of them is missing, a link or not a directory; or not a
/// valid component ("", ".", "..", with a slash).
[[nodiscard]] Result<UniqueFd> OpenFolderBeneath(int folder, std::span<const std::string> names,
                                                 BeneathWay way = BeneathWay::kBest);

/// Opens the regular file of that name in the directory for reading. Other files are not even opened: opening
/// a device may have side effects. kNotFound: there is none, or it is not a regular file. kUnavailable:
/// another program has a lease on it.
[[nodiscard]] Result<UniqueFd> OpenFileBeneath(int folder, const std::string& name);

/// Names in a directory, in order, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> NamesIn(int folder);

}  // namespace trainyard
