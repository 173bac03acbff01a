#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "cli/jobs/staging.h"
#include "cli/storage/storage_commands.h"
#include "cli/storage/storage_objects.h"
#include "cli/storage/upload.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

bool IsRemote(const std::string& path) { return path.starts_with("gs://"); }

struct Item {
  CopySource source;
  bool remote = false;
  wire::ObjectUri object;  ///< if it is remote
};

Result<std::vector<Item>> LocalItems(const std::string& path, bool recursive) {
  std::error_code error;
  fs::path named = fs::path(path).lexically_normal();
  if (!fs::exists(named, error))
    return std::unexpected(NotFound("The following URLs matched no objects or files:\n" + path));
  if (!fs::is_directory(named, error)) return std::vector<Item>{{.source = {named, BaseName(path), ""}}};
  if (!recursive)
    return std::unexpected(InvalidArgument(
        "", "Omitting prefix \"" + path + "\" because it is a container, and recursion is not enabled."));
  std::string folder = fs::absolute(named).lexically_normal().filename();
  if (folder.empty()) folder = fs::absolute(named).lexically_normal().parent_path().filename();
  std::vector<Item> items;
  for (fs::recursive_directory_iterator entry(named, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file())
      items.push_back({.source = {entry->path(), entry->path().lexically_relative(named), folder}});
  if (error) return std::unexpected(ErrnoError(error.value(), "list " + path));
  return items;
}

Result<std::vector<Item>> RemoteItems(const CommandSession& session, const std::string& url, bool recursive) {
  TY_TRY(auto objects, MatchObjects(session, url, recursive));
  TY_TRY(wire::ObjectUri named, ParseStorageUrl(url));
  std::string folder = named.object;
  while (folder.ends_with('/')) folder.pop_back();
  std::size_t below = folder.empty() ? 0 : folder.size() + 1;
  bool has_wildcard = folder.find_first_of("*?[") != std::string::npos;
  std::vector<Item> items;
  for (wire::ObjectUri& object : objects) {
    if (object.object.ends_with('/')) continue;  // a directory's placeholder object
    Item item{.source = {object.object, BaseName(object.object), ""}, .remote = true, .object = object};
    if (recursive && !has_wildcard && object.object != named.object)
      item.source = {object.object, object.object.substr(below),
                     folder.empty() ? named.bucket : BaseName(folder)};
    items.push_back(std::move(item));
  }
  return items;
}

Status Download(const CommandSession& session, const Item& item, const std::string& target) {
  if (target == "-") return DownloadObject(session, item.object, STDOUT_FILENO);
  if (!StaysBelow(item.source.relative))
    return std::unexpected(
        InvalidArgument("", "The object's name points outside the directory: " + item.object.ToString()));
  fs::path path(target);
  if (path.has_parent_path()) TY_RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  std::error_code error;
  // Complete or not at all: readers never see half a file.
  std::string partial = target + "_.gstmp";
  {
    TY_TRY(UniqueFd file, OpenFile(partial, O_WRONLY | O_CREAT | O_TRUNC));
    if (Status done = DownloadObject(session, item.object, file.get()); !done) {
      fs::remove(partial, error);
      return done;
    }
  }
  fs::rename(partial, path, error);
  if (error) return std::unexpected(ErrnoError(error.value(), "write " + target));
  return {};
}

Status CopyOne(const CommandSession& session, const Item& item, const std::string& target) {
  bool to_remote = IsRemote(target);
  std::string source = item.remote ? item.object.ToString() : "file://" + item.source.name;
  if (target != "-")
    session.console.Status("Copying " + source + " to " + (to_remote ? "" : "file://") + target + "\n");
  if (!to_remote && item.remote) return Download(session, item, target);
  if (!to_remote)
    return std::unexpected(
        UsageError("TARGET", "Local copies not supported. One of source and target must be a gs:// URL."));
  TY_TRY(wire::ObjectUri object, ParseStorageUrl(target));
  if (item.remote) return CopyObject(session, item.object, object);
  TY_TRY([[maybe_unused]] std::string uri,
         UploadFile(session.client, session.console, item.source.name, object.bucket, object.object));
  return {};
}

/// Whether sources are copied below the target.
Result<bool> IsContainer(const CommandSession& session, const std::string& target) {
  if (target == "-") return false;
  if (target.ends_with('/')) return true;
  if (!IsRemote(target)) {
    std::error_code error;
    return fs::is_directory(target, error);
  }
  TY_TRY(wire::ObjectUri uri, ParseStorageUrl(target));
  if (uri.object.empty()) return true;
  TY_TRY(Listing listing, ListObjects(session, uri.bucket, uri.object + "/", true));
  return !listing.objects.empty() || !listing.folders.empty();
}

}  // namespace

Status DownloadBelow(const CommandSession& session, const wire::ObjectUri& object,
                     const std::string& relative, const fs::path& folder) {
  const Item item{.source = {object.object, relative, ""}, .remote = true, .object = object};
  return CopyOne(session, item, (folder / relative).string());
}

ExitStatus CopyFiles(const CommandSession& session) {
  std::vector<std::string> names = session.arguments.positionals;
  if (names.size() < 2)
    return std::unexpected(
        UsageError("TARGET", "Must be specified, after the sources: storage cp SOURCE ... TARGET"));
  std::string target = names.back();
  names.pop_back();
  bool recursive = session.arguments.IsOn("--recursive");
  std::vector<Item> items;
  for (const std::string& name : names) {
    TY_TRY(std::vector<Item> found,
           IsRemote(name) ? RemoteItems(session, name, recursive) : LocalItems(name, recursive));
    items.insert(items.end(), found.begin(), found.end());
  }
  // The first upload creates the bucket if it does not exist.
  Result<bool> container = IsContainer(session, target);
  bool several = names.size() > 1 || (items.size() > 1 && items.front().source.folder.empty());
  bool into = several || (container ? *container : target.ends_with('/'));
  if (!container && container.error().code != Code::kNotFound)
    return std::unexpected(std::move(container).error());
  for (const Item& item : items) {
    bool to_stdout = target == "-";
    TY_RETURN_IF_ERROR(CopyOne(session, item, to_stdout ? target : CopyTarget(item.source, target, into)));
  }
  return 0;
}

}  // namespace trainyard::cli
