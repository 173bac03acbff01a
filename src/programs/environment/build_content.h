#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

/// Folders that code of packages has written into: handing them over, taking them back, removing them. No
/// name in them is trusted: links are never followed, and nothing in them is run.
namespace trainyard::environment {

/// No package has folders nested deeper than this.
inline constexpr int kContentDepthMax = 200;

/// Changes the owner of the folder and of all that is in it. Errors of the file system.
[[nodiscard]] Status GiveTo(const std::filesystem::path& folder, uid_t uid, gid_t gid);

/// What may be in a folder that is kept.
struct ContentRules {
  /// Outside of the folder: where links may lead, to it and to all below it.
  std::vector<std::string> link_targets;
  /// A layer of an image: links are those of the image's own tree, owners are the container's, and a device
  /// with the numbers 0 and 0 marks a removed file.
  bool is_image_layer = false;
};

/// Makes it safe to use what a build has left in the folder, once no process of the build runs any more: all
/// of it becomes ours, readable by everybody and writable only by us, and files lose setuid and setgid.
/// Pipes, sockets, devices, files that have another name outside, and links that lead outside are dropped.
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
