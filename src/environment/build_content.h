#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

/// Folders that code of packages has written into: handing them over, taking them back, removing them. No
/// name in them is trusted: links are never followed, and nothing of them is run.
namespace trainyard::environment {

/// Deeper folders than this are no package's.
inline constexpr int kContentDepthMax = 200;

/// Makes the folder and all in it another account's. Errors of the file system.
[[nodiscard]] Status GiveTo(const std::filesystem::path& folder, uid_t uid, gid_t gid);

/// What may be in a folder that is kept.
struct ContentRules {
  /// Outside of the folder: what links may lead to, with all below it.
  std::vector<std::string> link_targets;
  /// A layer of an image: links are those of the image's own tree, owners are the container's, and a device
  /// with the numbers 0 and 0 says that something is gone.
  bool is_image_layer = false;
};

/// Makes it safe to go on with what a build has left in the folder, once nothing of the build runs any more:
/// all of it becomes ours, can be read by everybody and changed only by us, files lose setuid and setgid;
/// dropped are pipes, sockets, devices, files with another name outside, and links that lead outside.
///
/// @return one line for each thing that was dropped, at most kContentLinesMax and one that counts the rest.
/// Errors: kFailedPrecondition for folders nested too deeply, and those of the file system. Blocks.
[[nodiscard]] Result<std::vector<std::string>> CleanContent(const std::filesystem::path& folder,
                                                            const ContentRules& rules);
inline constexpr std::size_t kContentLinesMax = 20;

/// Whether a link with this text, in the folder `at` (relative to `folder`; empty: itself), stays in `folder`
/// or leads to one of the targets, provided that all other links do. Pure.
[[nodiscard]] bool LeadsNowhereElse(const std::filesystem::path& folder, const std::filesystem::path& at,
                                    const std::string& text, const std::vector<std::string>& targets);

}  // namespace trainyard::environment
