#include "cli/storage/storage_commands.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/result.h"
#include "base/wire/utf8.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {
namespace {

/// A descriptor whose bytes are printed on a terminal as wire::VisibleText, for code that writes to
/// descriptors. The destructor ends the text and waits until all of it is printed.
class VisiblePipe {
 public:
  /// The caller owns `terminal`, which outlives the pipe. Errors: those of pipe(2).
  [[nodiscard]] static Result<std::unique_ptr<VisiblePipe>> Open(int terminal);
  VisiblePipe(const VisiblePipe&) = delete;
  VisiblePipe& operator=(const VisiblePipe&) = delete;
  ~VisiblePipe();

  [[nodiscard]] int descriptor() const noexcept { return write_end_.get(); }

 private:
  VisiblePipe(UniqueFd read_end, UniqueFd write_end, int terminal);

  UniqueFd write_end_;
  std::jthread printer_;  ///< reads the other end
};

/// False: the terminal was closed.
bool WriteAll(int terminal, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(terminal, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Reads until the other end is closed, even if the terminal was closed: the writer must not block.
void Print(const UniqueFd& read_end, int terminal) {
  std::array<char, 16 << 10> buffer{};
  wire::VisibleStream shown;
  bool there = true;
  for (;;) {
    const ssize_t count = ::read(read_end.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::string text = shown.Next({buffer.data(), static_cast<std::size_t>(count)});
    there = there && WriteAll(terminal, text);
  }
  if (there) WriteAll(terminal, shown.Finish());
}

Result<std::unique_ptr<VisiblePipe>> VisiblePipe::Open(int terminal) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  return std::unique_ptr<VisiblePipe>(new VisiblePipe(UniqueFd(ends[0]), UniqueFd(ends[1]), terminal));
}

VisiblePipe::VisiblePipe(UniqueFd read_end, UniqueFd write_end, int terminal)
    : write_end_(std::move(write_end)),
      printer_([end = std::move(read_end), terminal] { Print(end, terminal); }) {}

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

/// Returns "vision-runs" for "gs://vision-runs" and "gs://vision-runs/"; empty if the URL names no bucket.
std::string BucketName(std::string_view url) {
  constexpr std::string_view kScheme = "gs://";
  if (!url.starts_with(kScheme)) return {};
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  return url.contains('/') ? std::string() : std::string(url);
}

/// On a terminal, control characters are made visible; pipes and files get the bytes unchanged.
Status PrintObject(const CommandSession& session, const wire::ObjectUri& object) {
  if (!Console::OutIsTerminal()) return DownloadObject(session, object, STDOUT_FILENO);
  TY_TRY(const std::unique_ptr<VisiblePipe> pipe, VisiblePipe::Open(STDOUT_FILENO));
  return DownloadObject(session, object, pipe->descriptor());
}

constexpr auto kCopyFlags = WithCommonFlags(
    {{"--recursive", "", "Include directories and all their contents. -r and -R are the same."}});
constexpr auto kLsFlags = WithCommonFlags(
    {{"--long", "", "Also print sizes and times. -l is the same."},
     {"--recursive", "", "Also list all objects in subdirectories. -r and -R are the same."}});

constexpr auto kBucketFlags =
    WithCommonFlags({{"--location", "LOCATION",
                      "Location to record for the bucket. Its files are on the server's machine."}});

const Command kStorageCommands[] = {
    {.spec = {.path = "storage buckets create",
              .summary = "Create buckets in the project.",
              .positional = "URL",
              .repeats = true,
              .flags = kBucketFlags,
              .examples = "storage buckets create gs://vision-runs --project vision"},
     .run = CreateBuckets},
    {.spec = {.path = "storage cat",
              .summary = "Print objects.",
              .positional = "URL",
              .repeats = true,
              .flags = kCommonFlags,
              .examples = "storage cat gs://bucket/census_1/metrics.json"},
     .run = PrintObjects},
    {.spec = {.path = "storage cp",
              .summary = "Copy files and objects.",
              .positional = "SOURCE",
              .repeats = true,
              .flags = kCopyFlags,
              .examples = "storage cp model.tar.gz gs://bucket/models/\n"
                          "storage cp --recursive gs://bucket/census_1 ."},
     .run = CopyFiles},
    {.spec = {.path = "storage ls",
              .summary = "List buckets and objects.",
              .positional = "URL",
              .repeats = true,
              .optional = true,
              .flags = kLsFlags,
              .examples = "storage ls\n"
                          "storage ls --long gs://bucket/census_1/"},
     .run = ListStorage},
    {.spec = {.path = "storage rm",
              .summary = "Delete objects.",
              .positional = "URL",
              .repeats = true,
              .flags = kCopyFlags,
              .examples = "storage rm --recursive gs://bucket/census_1/"},
     .run = RemoveObjects},
};

}  // namespace

VisiblePipe::~VisiblePipe() { write_end_.Reset(); }

ExitStatus CreateBuckets(const CommandSession& session) {
  for (const std::string& url : session.arguments.positionals) {
    const std::string name = BucketName(url);
    if (name.empty())
      return std::unexpected(UsageError("URL", "Must be gs:// and the name of a bucket; received: " + url));
    Json body = JsonObject({{"name", JsonString(name)}});
    if (const auto location = session.arguments.Value("--location"))
      SetMember(body, "location", JsonString(*location));
    TY_TRY(const Json made, CallJson(session.client, {.method = ApiRequest::Method::kPost,
                                                      .path = "/storage/v1/b",
                                                      .query = {{"project", session.project.value}},
                                                      .body = PrintCompact(body)}));
    session.console.Status("Created gs://" + name + "/ in project " + session.project.value + ".\n");
  }
  return 0;
}

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

std::span<const Command> StorageCommands() { return kStorageCommands; }

}  // namespace trainyard::cli
