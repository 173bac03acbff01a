#include "cli/results/event_mirror.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/async/unique_fd.h"
#include "base/text/percent.h"
#include "cli/storage/storage_objects.h"

namespace trainyard::cli {

namespace fs = std::filesystem;

namespace {

constexpr int kRangeNotSatisfiable = 416;
constexpr mode_t kMode = 0600;

std::int64_t SizeOf(const Json& object) {
  const std::string text = TextAt(object, "size");
  std::int64_t size = 0;
  std::from_chars(text.data(), text.data() + text.size(), size);
  return size;
}

bool LeadsElsewhere(const fs::path& path) {
  if (path.is_absolute()) return true;
  for (const fs::path& part : path)
    if (part.empty() || part == "." || part == "..") return true;
  return false;
}

}  // namespace

fs::path MirroredPath(std::string_view below) {
  const fs::path path(below);
  const std::string file = path.filename().string();
  const bool is_read = file.contains("tfevents") || file == "projector_config.pbtxt" ||
                       std::string_view(below).contains("plugins/");
  if (!is_read || below.contains('\0') || LeadsElsewhere(path)) return {};
  return path;
}

EventMirror::EventMirror(const CommandSession& session, wire::ObjectUri folder, fs::path into)
    : session_(session), folder_(std::move(folder)), into_(std::move(into)) {}

Status EventMirror::Update() {
  const std::string prefix = folder_.object.empty() ? "" : folder_.object + "/";
  TY_TRY(const Listing listing, ListObjects(session_, folder_.bucket, prefix, false));
  for (const Json& object : listing.objects) {
    const std::string name = TextAt(object, "name");
    if (name.size() <= prefix.size()) continue;
    const fs::path below = MirroredPath(std::string_view(name).substr(prefix.size()));
    const std::int64_t size = SizeOf(object);
    if (below.empty() || size == sizes_[name]) continue;
    TY_RETURN_IF_ERROR(Fetch({folder_.bucket, name}, into_ / below, size));
  }
  return {};
}

/// A shorter object is another one, and begins again. What was cut off is fetched the next time.
Status EventMirror::Fetch(const wire::ObjectUri& object, const fs::path& path, std::int64_t size) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return std::unexpected(Unavailable(path.parent_path().string() + ": " + error.message()));
  std::int64_t& here = sizes_[object.object];
  if (size < here) here = 0;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (file.get() < 0 || ::ftruncate(file.get(), here) != 0 || ::lseek(file.get(), here, SEEK_SET) < 0)
    return std::unexpected(ErrnoError(errno, path.string()));
  ApiRequest request{.method = ApiRequest::Method::kGet,
                     .path = "/storage/v1/b/" + text::PercentEncode(object.bucket) + "/o/" +
                             text::PercentEncode(object.object),
                     .query = {{"alt", "media"}},
                     .headers = {{"Range", "bytes=" + std::to_string(here) + "-"}},
                     .download_descriptor = file.get()};
  TY_TRY(const ApiResponse response, session_.client.Send(request));
  if (response.status == 404 || response.status == kRangeNotSatisfiable) return {};
  if (response.status >= 400)
    return std::unexpected(Error{.code = Code::kUnknown, .message = ErrorText(response)});
  here = ::lseek(file.get(), 0, SEEK_END);
  return {};
}

}  // namespace trainyard::cli
