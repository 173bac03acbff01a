#include "cli/storage/storage_commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "cli/storage/storage_objects.h"
#include "cli/storage/visible_pipe.h"

namespace trainyard::cli {
namespace {

bool IsFolder(const wire::ObjectUri& uri) { return uri.object.empty() || uri.object.ends_with('/'); }

/// "     1024  2026-11-20T00:00:00Z  gs://b/o"
std::string LongLine(const Json& object, const std::string& url, std::uint64_t& total) {
  std::string size = TextAt(object, "size");
  total += std::strtoull(size.c_str(), nullptr, 10);
  return std::string(size.size() < 10 ? 10 - size.size() : 0, ' ') + size + "  " + TextAt(object, "updated") +
         "  " + url + "\n";
}

Status PrintListing(const CommandSession& session, const std::string& url) {
  TY_TRY(wire::ObjectUri uri, ParseStorageUrl(url));
  bool is_long = session.arguments.IsOn("--long");
  bool recursive = session.arguments.IsOn("--recursive") || uri.object.find("**") != std::string::npos;
  std::string prefix = uri.object.substr(0, uri.object.find_first_of("*?["));
  bool has_wildcard = prefix.size() != uri.object.size();
  TY_TRY(Listing listing, ListObjects(session, uri.bucket, prefix, !recursive && !has_wildcard));
  // "gs://b/folder" means the directory if there is one of that name.
  bool named_folder =
      listing.objects.empty() && listing.folders.size() == 1 && listing.folders.front() == uri.object + "/";
  if (named_folder) {
    TY_TRY(listing, ListObjects(session, uri.bucket, uri.object + "/", true));
  }
  std::vector<wire::ObjectUri> matched;
  if (has_wildcard) {
    TY_TRY(matched, MatchObjects(session, url, false));
  }
  std::string out;
  std::uint64_t total = 0;
  std::uint64_t count = 0;
  for (const Json& object : listing.objects) {
    wire::ObjectUri one{uri.bucket, TextAt(object, "name")};
    bool below = recursive || named_folder || IsFolder(uri) || one.object == uri.object;
    if (has_wildcard) below = std::ranges::find(matched, one) != matched.end();
    if (!below) continue;
    ++count;
    out += is_long ? LongLine(object, one.ToString(), total) : one.ToString() + "\n";
  }
  for (const std::string& folder : listing.folders) {
    if (!named_folder && !IsFolder(uri) && folder != uri.object + "/") continue;
    ++count;
    out += (is_long ? std::string(34, ' ') : "") + "gs://" + uri.bucket + "/" + folder + "\n";
  }
  if (count == 0 && !uri.object.empty())
    return std::unexpected(NotFound("The following URLs matched no objects or files:\n" + url));
  if (is_long) out += "TOTAL: " + std::to_string(count) + " objects, " + std::to_string(total) + " bytes\n";
  session.console.Out(out);
  return {};
}

/// On a terminal, control characters are made visible; pipes and files get the bytes unchanged.
Status PrintObject(const CommandSession& session, const wire::ObjectUri& object) {
  if (!Console::OutIsTerminal()) return DownloadObject(session, object, STDOUT_FILENO);
  TY_TRY(const std::unique_ptr<VisiblePipe> pipe, VisiblePipe::Open(STDOUT_FILENO));
  return DownloadObject(session, object, pipe->descriptor());
}

}  // namespace

ExitStatus ListStorage(const CommandSession& session) {
  if (session.arguments.positionals.empty()) {
    TY_TRY(std::vector<std::string> buckets, ListBuckets(session));
    for (const std::string& bucket : buckets) session.console.Out("gs://" + bucket + "/\n");
    return 0;
  }
  for (const std::string& url : session.arguments.positionals) TY_RETURN_IF_ERROR(PrintListing(session, url));
  return 0;
}

ExitStatus PrintObjects(const CommandSession& session) {
  for (const std::string& url : session.arguments.positionals) {
    TY_TRY(auto objects, MatchObjects(session, url, false));
    for (const wire::ObjectUri& object : objects) TY_RETURN_IF_ERROR(PrintObject(session, object));
  }
  return 0;
}

ExitStatus RemoveObjects(const CommandSession& session) {
  for (const std::string& url : session.arguments.positionals) {
    TY_TRY(auto objects, MatchObjects(session, url, session.arguments.IsOn("--recursive")));
    for (const wire::ObjectUri& object : objects) {
      session.console.Status("Removing " + object.ToString() + "...\n");
      TY_RETURN_IF_ERROR(DeleteObject(session, object));
    }
  }
  return 0;
}

}  // namespace trainyard::cli
