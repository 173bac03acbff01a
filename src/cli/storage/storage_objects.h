#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/wire/resource_name.h"
#include "cli/command_session.h"

/// Buckets and objects over storage v1, for the `storage` commands.
namespace trainyard::cli {

/// The result of a listing: objects, and with a delimiter the directories below the prefix.
struct Listing {
  std::vector<Json> objects;
  std::vector<std::string> folders;  ///< names with the trailing '/'
};

/// Reads all pages. `one_level`: stop at the next '/'.
[[nodiscard]] Result<Listing> ListObjects(const CommandSession& session, const std::string& bucket,
                                          const std::string& prefix, bool one_level);
[[nodiscard]] Result<std::vector<std::string>> ListBuckets(const CommandSession& session);

/// The objects that a URL names: the object itself, the matches of its wildcards (*, ?, [..]; ** crosses
/// directories), or with `recursive` all objects below it. kNotFound: "The following URLs matched no objects
/// or files: URL".
[[nodiscard]] Result<std::vector<wire::ObjectUri>> MatchObjects(const CommandSession& session,
                                                                const std::string& url, bool recursive);

/// Writes the object's bytes to an open file.
[[nodiscard]] Status DownloadObject(const CommandSession& session, const wire::ObjectUri& source,
                                    int descriptor);
[[nodiscard]] Status CopyObject(const CommandSession& session, const wire::ObjectUri& source,
                                const wire::ObjectUri& target);
[[nodiscard]] Status DeleteObject(const CommandSession& session, const wire::ObjectUri& object);

/// "gs://..." as a bucket and an object. kInvalidArgument names the URL.
[[nodiscard]] Result<wire::ObjectUri> ParseStorageUrl(const std::string& url);

/// A file or object to copy, with its path below what the user named.
struct CopySource {
  std::string name;      ///< full path or object name
  std::string relative;  ///< below the named directory; for a single file its own name
  std::string folder;    ///< last part of the named directory; empty for a single file
};

/// The target's name. `into`: the target is a directory (it exists, or ends in '/', or several sources are
/// copied). Then sources are copied below it, directories under their own names. Otherwise the target's name
/// is the new name. Pure. Source: gsutil and gcloud storage.
[[nodiscard]] std::string CopyTarget(const CopySource& source, std::string_view target, bool into);

/// Whether a relative name stays below its directory: no "..", no empty or absolute parts.
[[nodiscard]] bool StaysBelow(std::string_view relative);

}  // namespace trainyard::cli
