#pragma once

#include <span>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// The only way to open anything below the buckets' root. User code writes there: what it puts in place of a
/// directory (a link to /etc) or of a file (a link, a pipe, a device) is not followed and not opened.
/// Everything is relative to an open directory, so swapping a directory does not change what was opened.
/// Blocking; any thread. Source: openat2(2); docs/adr/0003-buckets-are-folders.md.
namespace trainyard::storage {

enum class BeneathWay {
  kBest,   ///< openat2 with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS where there is one
  kSteps,  ///< one component after the other with O_NOFOLLOW
};

/// The directory below `folder` at the end of `names`, for reading; `folder` itself where there are none. Any
/// number of names: they may be longer than a path.
///
/// @param names  one component each. kNotFound: one of them is missing, a link or no directory; or it is no
/// component ("", ".", "..", with a slash).
[[nodiscard]] Result<UniqueFd> OpenFolderBeneath(int folder, std::span<const std::string> names,
                                                 BeneathWay way = BeneathWay::kBest);

/// The regular file of that name in the directory, for reading. Other files are not even opened: opening a
/// device may do something. kNotFound: there is none, or it is no regular file. kUnavailable: another program
/// holds a lease on it.
[[nodiscard]] Result<UniqueFd> OpenFileBeneath(int folder, const std::string& name);

}  // namespace trainyard::storage
