#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

/// Directories into which packages' code has written: handing them over, taking them back, removing them. No
/// name in them is trusted: links are never followed, and nothing in them is run.
namespace trainyard::environment {

/// The deepest nesting of directories; no real package exceeds it.
inline constexpr int kContentDepthMax = 200;

/// Changes the owner of the folder and of all that is in it. Errors of the file system.
[[nodiscard]] Status GiveTo(const std::filesystem::path& folder, uid_t uid, gid_t gid);

/// What a directory may contain if it is kept.
struct ContentRules {
  /// Paths outside of the directory to which links may lead, and to everything below them.
  std::vector<std::string> link_targets;
  /// The directory is a layer of an image: links refer to the image's own tree, owners are the container's,
  /// and a device with the numbers 0 and 0 marks a removed file.
  bool is_image_layer = false;
};

/// Makes it safe to use the files that a build has left in the directory. Call it once no process of the
/// build runs any more. All files become ours, readable by everybody and writable only by us, and lose setuid
/// and setgid. Pipes, sockets, devices, files with another hard link outside, and symbolic links that lead
/// outside are removed.
///
/// @return one line for each removed entry, at most kContentLinesMax and one that counts the rest. Errors:
/// kFailedPrecondition for folders nested too deeply, and those of the file system. Blocks.
[[nodiscard]] Result<std::vector<std::string>> CleanContent(const std::filesystem::path& folder,
                                                            const ContentRules& rules);
inline constexpr std::size_t kContentLinesMax = 20;

/// Whether a symbolic link with this text, in the directory `at` (relative to `folder`; empty: `folder`
/// itself), stays in `folder` or leads to one of the targets, provided that all other links do. Pure.
[[nodiscard]] bool LeadsNowhereElse(const std::filesystem::path& folder, const std::filesystem::path& at,
                                    const std::string& text, const std::vector<std::string>& targets);

}  // namespace trainyard::environment
