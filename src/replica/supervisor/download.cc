#include "replica/supervisor/download.h"

#include <fcntl.h>

#include <utility>

#include "base/async/file.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/resource_name.h"
#include "net/http/client.h"

namespace trainyard::replica {

namespace {

constexpr int kOk = 200;

/// No server, and an answer that is late or cut, are worth another try.
Error Explain(Error error) {
  switch (error.code) {
    case Code::kNotFound:          // the socket's file
    case Code::kPermissionDenied:  // to connect
    case Code::kDeadlineExceeded:
    case Code::kDataLoss: return Unavailable(std::move(error).message);
    default: return error;
  }
}

}  // namespace

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
  if (!response) return std::unexpected(Explain(response.error()));
  if (response->status == kOk) return {};
  return std::unexpected(wire::ParseErrorBody(response->status, response->body));
}

}  // namespace trainyard::replica
