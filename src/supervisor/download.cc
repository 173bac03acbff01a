#include "supervisor/download.h"

#include <fcntl.h>

#include <utility>

#include "async/file.h"
#include "http/client.h"
#include "http/uri.h"
#include "wire/error_body.h"
#include "wire/resource_name.h"

namespace trainyard::replica {

namespace {

constexpr int kOk = 200;

/// An answer that is late or cut is worth another try, as is none.
Error Explain(Error error) {
  if (error.code == Code::kDeadlineExceeded || error.code == Code::kDataLoss)
    return Unavailable("the server broke off: " + error.message);
  return error;
}

}  // namespace

Status Download(const DownloadSource& source, const std::string& uri, const std::string& path) {
  TY_TRY(const wire::ObjectUri object, wire::ObjectUri::Parse(uri));
  TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  http::Client client({.transport = http::Endpoint::Transport::kUnix,
                       .host = "localhost",
                       .socket_path = source.replica_socket});
  http::ClientRequest request{.target = "/storage/v1/b/" + http::PercentEncode(object.bucket) + "/o/" +
                                        http::PercentEncode(object.object) + "?alt=media",
                              .download_descriptor = file.get()};
  request.headers.Add("Connection", "close");
  const auto response = client.Send(std::move(request));
  if (!response) return std::unexpected(Explain(response.error()));
  if (response->status == kOk) return {};
  return std::unexpected(wire::ParseErrorBody(response->status, response->body));
}

}  // namespace trainyard::replica
