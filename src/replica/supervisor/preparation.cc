#include "replica/supervisor/preparation.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "base/async/file.h"
#include "base/result.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/resource_name.h"
#include "net/http/client.h"

namespace trainyard::replica {

namespace {

/// The source of packages.
struct DownloadSource {
  std::string replica_socket;  ///< the server's: the API for replicas
};

constexpr int kOk = 200;

/// Downloads gs://BUCKET/OBJECT from the server's storage API into a file. Blocks. Errors: kNotFound: no such
/// object; kInvalidArgument: not such a URI; kUnavailable: the server does not answer or closed the
/// connection (worth retrying); others as returned by the server.
Status Download(const DownloadSource& source, const std::string& uri, const std::string& path) {
  TY_TRY(const wire::ObjectUri object, wire::ObjectUri::Parse(uri));
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  http::Client client({.transport = http::Endpoint::Transport::kUnix,
                       .host = "localhost",
                       .socket_path = source.replica_socket});
  http::ClientRequest request{.target = "/storage/v1/b/" + text::PercentEncode(object.bucket) + "/o/" +
                                        text::PercentEncode(object.object) + "?alt=media",
                              .download_descriptor = file.get()};
  request.headers.Add("Connection", "close");
  const auto response = client.Send(std::move(request));
  if (!response) {
    const Error& error = response.error();
    return std::unexpected(MeansNoServer(error.code) ? Unavailable(error.message) : error);
  }
  if (response->status == kOk) return {};
  return std::unexpected(wire::ParseErrorBody(response->status, response->body));
}

constexpr std::chrono::milliseconds kDownloadPauseMin{200};
constexpr std::chrono::milliseconds kDownloadPauseMax{5'000};

/// Retries for as long as the server is away: it may be restarting.
Status DownloadPatiently(const DownloadSource& source, BackgroundReporter& reporter, const std::string& uri,
                         const std::string& path) {
  std::chrono::milliseconds pause = kDownloadPauseMin;
  for (bool first = true;; first = false) {
    const Status done = Download(source, uri, path);
    if (done || done.error().code != Code::kUnavailable) return done;
    if (first)
      reporter.Line(false, "Cannot download " + uri + " now (" + done.error().message + "); trying again.");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kDownloadPauseMax);
  }
}

}  // namespace

bool MeansNoServer(Code code) {
  switch (code) {
    case Code::kUnavailable:
    case Code::kNotFound:          // the socket's file is missing
    case Code::kPermissionDenied:  // for the connection
    case Code::kDeadlineExceeded:
    case Code::kDataLoss: return true;
    default: return false;
  }
}

Status PrepareProgram(ProgramSource& source, const v1::Manifest& manifest, BackgroundReporter& reporter) {
  const DownloadSource packages{.replica_socket = manifest.places().replica_socket()};
  const PreparationHooks hooks{
      .info = [&reporter](std::string_view line) { reporter.Line(false, line); },
      .error = [&reporter](std::string_view line) { reporter.Line(true, line); },
      .progress = [&reporter](const environment::Progress& progress) { reporter.Progress(progress); },
      .download = [&](const std::string& uri,
                      const std::string& path) { return DownloadPatiently(packages, reporter, uri, path); }};
  return source.Prepare(manifest, hooks);
}

}  // namespace trainyard::replica
