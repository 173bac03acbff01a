#include "net/http/client.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "net/http/client_socket.h"
#include "net/http/response_reader.h"

namespace trainyard::http {

namespace {

bool IsIdempotent(Method method) { return method != Method::kPost && method != Method::kPatch; }

/// Receives a response's body.
class BodySink {
 public:
  BodySink(const ClientRequest& request, ClientResponse& response)
      : request_(request),
        response_(response),
        to_file_(request.download_descriptor >= 0 && response.status >= 200 && response.status < 300) {}

  Status Take(std::string_view bytes) {
    if (to_file_) {
      TY_RETURN_IF_ERROR(WriteAll(request_.download_descriptor, bytes));
      response_.downloaded += bytes.size();
    } else if (response_.body.size() + bytes.size() > request_.response_bytes_max) {
      return std::unexpected(Error{Code::kOutOfRange, "the server's answer is too large", ""});
    } else {
      response_.body.append(bytes);
    }
    received_ += bytes.size();
    if (request_.progress) request_.progress(received_);
    return {};
  }

 private:
  const ClientRequest& request_;
  ClientResponse& response_;
  bool to_file_;
  std::uint64_t received_ = 0;
};

}  // namespace

struct Client::State {
  explicit State(Endpoint used) : endpoint(std::move(used)) {}

  Result<ClientResponse> Exchange(const ClientRequest& request);
  Status SendRequest(const ClientRequest& request);
  Status SendUpload(const UploadBody& upload, std::chrono::milliseconds wait_max);
  Status Receive(std::chrono::milliseconds wait_max, ResponseReader& reader,
                 const ResponseReader::Sink& sink);
  void Drop() {
    socket.reset();
    early.clear();
  }

  Endpoint endpoint;
  std::optional<ClientSocket> socket;
  std::string early;           ///< bytes after the current response
  bool answered = false;       ///< a byte of the current response has arrived
  bool refused_early = false;  ///< the server responded before the whole body was sent
  std::vector<char> block = std::vector<char>(kBlockBytes);
};

Status Client::State::SendUpload(const UploadBody& upload, std::chrono::milliseconds wait_max) {
  std::uint64_t sent = 0;
  while (sent < upload.length && !socket->HasInput()) {
    if (std::chrono::steady_clock::now() > upload.end)
      return std::unexpected(Error{Code::kDeadlineExceeded, "sending the file takes too long", ""});
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), upload.length - sent));
    const ssize_t got =
        ::pread(upload.descriptor, block.data(), wanted, static_cast<off_t>(upload.offset + sent));
    if (got < 0) return std::unexpected(ErrnoError(errno, "read the file to upload"));
    if (got == 0)
      return std::unexpected(Error{Code::kDataLoss, "the file became shorter while it was sent", ""});
    TY_RETURN_IF_ERROR(socket->Write({block.data(), static_cast<std::size_t>(got)}, wait_max));
    sent += static_cast<std::uint64_t>(got);
    if (upload.progress) upload.progress(sent);
  }
  refused_early = sent < upload.length;
  return {};
}

Status Client::State::SendRequest(const ClientRequest& request) {
  std::string head = PrintHead(endpoint, request);
  if (const auto* text = std::get_if<std::string>(&request.body)) {
    head.append(*text);
    return socket->Write(head, request.wait_max);
  }
  TY_RETURN_IF_ERROR(socket->Write(head, request.wait_max));
  return SendUpload(std::get<UploadBody>(request.body), request.wait_max);
}

/// Waits for more bytes of the response.
Status Client::State::Receive(std::chrono::milliseconds wait_max, ResponseReader& reader,
                              const ResponseReader::Sink& sink) {
  TY_TRY(const std::size_t got, socket->ReadSome(block, wait_max));
  if (got == 0) return reader.End();
  answered = true;
  const std::string_view bytes(block.data(), got);
  TY_TRY(const std::size_t used, reader.Feed(bytes, sink));
  early = bytes.substr(used);
  return {};
}

Result<ClientResponse> Client::State::Exchange(const ClientRequest& request) {
  answered = false;
  refused_early = false;
  const Status sent = SendRequest(request);
  // A server that refuses an upload responds before it has read all of it, and may close the connection: its
  // response is a better reason than EPIPE.
  if (!sent && sent.error().code != Code::kUnavailable) return std::unexpected(sent.error());
  ResponseReader reader(request.method == Method::kHead);
  ClientResponse response;
  std::optional<BodySink> body;
  const auto sink = [&](std::string_view bytes) -> Status {
    if (request.head_only) return {};
    response.status = reader.head().status;
    if (!body) body.emplace(request, response);
    return body->Take(bytes);
  };
  const auto start = std::chrono::steady_clock::now();
  const auto is_done = [&] { return reader.done() || (request.head_only && reader.has_head()); };
  while (!is_done()) {
    auto wait = request.wait_max;
    if (request.response_max.count() > 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(start + request.response_max -
                                                                     std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return std::unexpected(Error{Code::kDeadlineExceeded, "the answer took too long", {}});
      wait = std::min(wait, left);
    }
    const Status received = Receive(wait, reader, sink);
    if (!received) return std::unexpected(sent || reader.has_head() ? received.error() : sent.error());
  }
  response.status = reader.head().status;
  response.headers = reader.head().headers;
  if (!reader.done() || !reader.keep_alive() || !sent || refused_early || !early.empty()) Drop();
  return response;
}

Client::Client(Endpoint endpoint) : state_(std::make_unique<State>(std::move(endpoint))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<ClientResponse> Client::Send(ClientRequest request) {
  TY_RETURN_IF_ERROR(CheckRequest(request));
  if (state_->socket && state_->socket->HasInput()) state_->Drop();
  bool kept = state_->socket.has_value();
  while (true) {
    if (!state_->socket) {
      TY_TRY(ClientSocket socket, ClientSocket::Connect(state_->endpoint, request.wait_max));
      state_->socket.emplace(std::move(socket));
    }
    Result<ClientResponse> response = state_->Exchange(request);
    if (response) return response;
    state_->Drop();
    const bool stale = kept && !state_->answered && response.error().code == Code::kUnavailable;
    if (!stale || !IsIdempotent(request.method)) return response;
    kept = false;
  }
}

Result<Client::Upgraded> Client::Upgrade(std::string target, std::string protocol,
                                         std::chrono::milliseconds wait_max, Headers headers) {
  if (state_->endpoint.transport == Endpoint::Transport::kTls) {
    return std::unexpected(InvalidArgument("", "an upgraded connection cannot have TLS"));
  }
  ClientRequest request;
  request.target = std::move(target);
  request.headers = std::move(headers);
  request.headers.Add("Connection", "Upgrade");
  request.headers.Add("Upgrade", std::move(protocol));
  TY_RETURN_IF_ERROR(CheckRequest(request));
  state_->Drop();
  TY_TRY(ClientSocket socket, ClientSocket::Connect(state_->endpoint, wait_max));
  state_->socket.emplace(std::move(socket));
  TY_RETURN_IF_ERROR(state_->socket->Write(PrintHead(state_->endpoint, request), wait_max));
  ResponseReader reader;
  const auto drop = [](std::string_view) { return Status(); };
  while (!reader.has_head()) TY_RETURN_IF_ERROR(state_->Receive(wait_max, reader, drop));
  if (reader.head().status != 101) {
    const std::string status = std::to_string(reader.head().status);
    state_->Drop();
    return std::unexpected(
        FailedPrecondition("the server did not upgrade the connection; it answered " + status));
  }
  Upgraded upgraded{state_->socket->Release(), std::move(state_->early)};
  state_->Drop();
  return upgraded;
}

}  // namespace trainyard::http
