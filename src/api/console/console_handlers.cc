#include "api/console/console_handlers.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "api/console_files.h"
#include "api/route.h"
#include "base/text/percent.h"
#include "net/http/gzip.h"
#include "net/http/text.h"

namespace trainyard::api {

namespace {

constexpr int kFound = 302;
constexpr int kNotModified = 304;
constexpr std::string_view kPage = "index.html";
constexpr const char* kHtml = "text/html; charset=utf-8";

/// Scripts and styles may only be the console's own files, so no text becomes a script. Source: spec
/// console.md.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types console";
constexpr const char* kImmutable = "public, max-age=31536000, immutable";

constexpr std::string_view kIcon =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" )"
    R"(fill="#1f56c4"/><path d="M8 20V4M8 13c0-4 8-3 8-9M16 20v-5" fill="none" stroke="#fff" )"
    R"(stroke-width="2.4" stroke-linecap="round"/></svg>)";

constexpr auto kTypes = std::to_array<std::pair<std::string_view, const char*>>({
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".html", kHtml},
    {".txt", "text/plain; charset=utf-8"},
});

const char* TypeOf(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kTypes, [name](const auto& type) { return name.ends_with(type.first); });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

const console::EmbeddedFile* FindFile(std::string_view name) {
  const std::span<const console::EmbeddedFile> files = console::Files();
  const auto file = std::ranges::find(files, name, &console::EmbeddedFile::name);
  return file == files.end() ? nullptr : &*file;
}

void Guard(Response& response) {
  response.headers.Set("Content-Security-Policy", kPolicy);
  response.headers.Set("X-Content-Type-Options", "nosniff");
  response.headers.Set("Referrer-Policy", "no-referrer");
  response.headers.Set("Cross-Origin-Opener-Policy", "same-origin");
}

/// The file, compressed if the client accepts that.
Response Serve(const console::EmbeddedFile& file, const Request& request) {
  Response response;
  const console::EmbeddedFile* small = FindFile(std::string(file.name) + ".gz");
  const bool is_small = small != nullptr && http::AcceptsGzip(request.headers.Get("Accept-Encoding"));
  response.body = std::string(is_small ? small->bytes : file.bytes);
  if (is_small) response.headers.Set("Content-Encoding", "gzip");
  response.headers.Set("Vary", "Accept-Encoding");
  response.headers.Set("Content-Type", TypeOf(file.name));
  Guard(response);
  return response;
}

/// The page's name contains no hash, so clients revalidate it each time, but mostly need not download it: its
/// tag is the name of the script that it loads, which changes with everything else.
Response ServePage(const Request& request) {
  static const std::string kTag = [] {
    const std::string_view page = FindFile(kPage)->bytes;
    const std::size_t from = page.find("/ui/main-");
    return '"' + std::string(page.substr(from, page.find('"', from) - from)) + '"';
  }();
  const bool is_known = request.headers.Get("If-None-Match") == kTag;
  Response response = is_known ? Response::Empty(kNotModified) : Serve(*FindFile(kPage), request);
  response.headers.Set("Cache-Control", "no-cache");
  response.headers.Set("ETag", kTag);
  return response;
}

/// Whether the path is a file's name and not an address of the console: without directories, and with a
/// suffix.
bool LooksLikeFile(std::string_view path) {
  return path.find('/') == std::string_view::npos && path.find('.') != std::string_view::npos;
}

Result<Response> Get(Request& request) {
  const std::string& path = request.Parameter("path");
  const console::EmbeddedFile* file = path.ends_with(".gz") ? nullptr : FindFile(path);
  if (file != nullptr && path != kPage) {
    Response response = Serve(*file, request);
    response.headers.Set("Cache-Control", kImmutable);
    return response;
  }
  if (LooksLikeFile(path) && path != kPage)
    return std::unexpected(
        NotFound("This version of the console has no file " + path + ". Reload the page."));
  return ServePage(request);
}

Result<Response> GetPage(Request& request) { return ServePage(request); }

Result<Response> GetIcon(Request&) {
  Response response = Response::Text(std::string(kIcon));
  response.headers.Set("Content-Type", "image/svg+xml");
  response.headers.Set("Cache-Control", "public, max-age=86400");
  Guard(response);
  return response;
}

Result<Response> GoToPage(Request&) { return GoToConsole(); }

Result<Response> GoWhereGoogleWouldShowIt(Request& request) {
  const std::optional<std::string> path = ConsolePathOf(request);
  if (!path) return std::unexpected(NotFound("This page does not exist. The console is at /ui/."));
  return GoToConsole(*path);
}

/// "mlengine" may be a bucket: if this is not such a page, it is the bucket's object "jobs/J", if objects are
/// served here.
awaitable<Result<Response>> GoToJobOrObject(const http::Router& router, Request& request) {
  if (ConsolePathOf(request)) co_return GoWhereGoogleWouldShowIt(request);
  constexpr std::string_view kFolder = "/mlengine/jobs";
  // With its slash escaped the object's name is one segment, which only matches the objects' route.
  request.path = std::string(kFolder) + "%2F" + request.path.substr(kFolder.size() + 1);
  const Result<const http::Handler*> object = router.Find(request);
  if (!object) co_return std::unexpected(NotFound("This page does not exist. The console is at /ui/."));
  co_return co_await (**object)(request);
}

}  // namespace

bool WantsPage(const Request& request) {
  if (request.headers.Has("Metadata-Flavor")) return false;
  bool wants = false;
  http::ForEachElement(request.headers.Get("Accept"), [&wants](std::string_view element) {
    wants = wants || element.substr(0, element.find_first_of("; ")) == "text/html";
  });
  return wants;
}

Response GoToConsole(std::string_view path) {
  Response response = Response::Empty(kFound);
  response.headers.Set("Location", std::string(path));
  response.headers.Set("Cache-Control", "no-store");
  response.headers.Set("Vary", "Accept");
  return response;
}

std::optional<std::string> ConsolePathOf(const Request& request) {
  constexpr std::string_view kJobs = "/mlengine/jobs/";
  constexpr std::string_view kResource = "ml_job/job_id/";
  const std::string_view project = request.Query("project");
  if (!WantsPage(request) || project.empty()) return std::nullopt;
  const std::string jobs = "/ui/p/" + text::PercentEncode(project) + "/jobs/";
  if (request.path.starts_with(kJobs)) return jobs + text::PercentEncode(request.Parameter("job"));
  const std::string_view resource = request.Query("resource");
  if (request.path != "/logs" || !resource.starts_with(kResource)) return std::nullopt;
  return jobs + text::PercentEncode(resource.substr(kResource.size())) + "/logs";
}

namespace {

using iam::Public;

constexpr Route kRows[] = {
    // The console's files and redirects: the same for everybody. The console requests the data that it shows.
    {Public("GET /favicon.ico"), kOutside, kBare, kCall<GetIcon>},
    {Public("GET /ui"), kOutside, kBare, kCall<GoToPage>},
    {Public("GET /ui/"), kOutside, kBare, kCall<GetPage>},
    {Public("GET /ui/{path=**}"), kOutside, kBare, kCall<Get>},
    {Public("GET /mlengine/jobs/{job}"), kOutside, kBare, kCall<GoToJobOrObject>},
    {Public("GET /logs"), kOutside, kBare, kCall<GoWhereGoogleWouldShowIt>},
};

}  // namespace

std::span<const Route> ConsoleRoutes() { return kRows; }

}  // namespace trainyard::api
