#include "http/client.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "async/file.h"
#include "http/chunk_decoder.h"
#include "http/client_head.h"
#include "http/client_socket.h"
#include "http/head.h"
#include "http/text.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kResponseHeadBytesMax = std::size_t{256} << 10;

bool IsIdempotent(Method method) { return method != Method::kPost && method != Method::kPatch; }

Error Cut() { return {Code::kDataLoss, "the server's answer is cut", ""}; }

/// Where a response's body goes.
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

Result<Endpoint> Endpoint::Parse(std::string_view url) {
  Endpoint endpoint;
  if (url.starts_with("unix:")) {
    endpoint.transport = Transport::kUnix;
    endpoint.host = "localhost";
    endpoint.socket_path = url.substr(5);
    if (!endpoint.socket_path.is_absolute())
      return std::unexpected(InvalidArgument("", "unix: needs an absolute path"));
    return endpoint;
  }
  const bool tls = url.starts_with("https://");
  const Error bad = InvalidArgument(
      "", "'" + std::string(url) + "' is not http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  if (!tls && !url.starts_with("http://")) return std::unexpected(bad);
  endpoint.transport = tls ? Transport::kTls : Transport::kTcp;
  endpoint.port = tls ? 443 : 80;
  std::string_view authority = url.substr(tls ? 8 : 7);
  if (authority.ends_with('/')) authority.remove_suffix(1);
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return std::unexpected(bad);
  const std::size_t colon = authority.find(':', bracket);
  if (colon != std::string_view::npos) {
    const auto port = ParseDecimal(authority.substr(colon + 1));
    if (!port || *port == 0 || *port > 65535) return std::unexpected(bad);
    endpoint.port = static_cast<std::uint16_t>(*port);
  }
  std::string_view host = authority.substr(0, colon);
  if (bracket > 0) host = host.substr(1, bracket - 1);
  if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos) return std::unexpected(bad);
  endpoint.host = host;
  return endpoint;
}

std::string Endpoint::Authority() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const std::uint16_t own = transport == Transport::kTls ? 443 : 80;
  if (transport != Transport::kUnix && port != own) text += ":" + std::to_string(port);
  return text;
}

struct Client::State {
  explicit State(Endpoint used) : endpoint(std::move(used)) {}

  Result<ClientResponse> Exchange(const ClientRequest& request);
  Status SendRequest(const ClientRequest& request);
  Status SendUpload(const UploadBody& upload, std::chrono::milliseconds wait_max);
  Result<ResponseHead> ReadHead(std::chrono::milliseconds wait_max);
  Status ReadBody(const Framing& framing, std::chrono::milliseconds wait_max, BodySink& sink);
  Status ReadChunks(std::chrono::milliseconds wait_max, BodySink& sink);
  Result<std::size_t> Fill(std::chrono::milliseconds wait_max);
  void Drop() {
    socket.reset();
    early.clear();
  }

  Endpoint endpoint;
  std::optional<ClientSocket> socket;
  std::string early;           ///< read, but not used yet
  bool answered = false;       ///< a byte of the present answer has arrived
  bool refused_early = false;  ///< the server answered before the whole body was sent
  std::vector<char> block = std::vector<char>(kBlockBytes);
};

Result<std::size_t> Client::State::Fill(std::chrono::milliseconds wait_max) {
  TY_TRY(const std::size_t got, socket->ReadSome(block, wait_max));
  early.append(block.data(), got);
  answered = answered || got > 0;
  return got;
}

Status Client::State::SendUpload(const UploadBody& upload, std::chrono::milliseconds wait_max) {
  std::uint64_t sent = 0;
  while (sent < upload.length && !socket->HasInput()) {
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

Result<ResponseHead> Client::State::ReadHead(std::chrono::milliseconds wait_max) {
  HeadScanner scanner;
  while (true) {
    const auto end = scanner.Scan(early);
    const bool too_large = early.size() > kResponseHeadBytesMax;
    if (!end || (too_large && !*end))
      return std::unexpected(Error{Code::kDataLoss, "the server's answer is not HTTP", ""});
    if (*end) {
      const auto head = ParseResponseHead(std::string_view(early).substr(0, **end));
      early.erase(0, **end);
      if (!head)
        return std::unexpected(Error{Code::kDataLoss, "the server's answer: " + head.error().reason, ""});
      if (head->status >= 200 || head->status == 101) return *head;
      scanner.Reset();  // 100 Continue and its like: the answer comes after it
      continue;
    }
    TY_TRY(const std::size_t got, Fill(wait_max));
    if (got == 0) {
      return std::unexpected(answered ? Cut()
                                      : Unavailable("the server closed the connection without an answer"));
    }
  }
}

Status Client::State::ReadChunks(std::chrono::milliseconds wait_max, BodySink& sink) {
  ChunkDecoder decoder;
  std::vector<std::byte> decoded(kBlockBytes);
  while (true) {
    TY_TRY(const ChunkDecoder::Step step, decoder.Decode(early, decoded));
    early.erase(0, step.consumed);
    TY_RETURN_IF_ERROR(sink.Take({reinterpret_cast<const char*>(decoded.data()), step.produced}));
    if (decoder.done()) return {};
    if (step.consumed > 0 && !early.empty()) continue;
    TY_TRY(const std::size_t got, Fill(wait_max));
    if (got == 0) return std::unexpected(Cut());
  }
}

Status Client::State::ReadBody(const Framing& framing, std::chrono::milliseconds wait_max, BodySink& sink) {
  if (framing.chunked) return ReadChunks(wait_max, sink);
  std::uint64_t left = framing.content_length.value_or(UINT64_MAX);
  const auto take = [&](std::string_view bytes) {
    left -= bytes.size();
    return sink.Take(bytes);
  };
  const std::size_t have = static_cast<std::size_t>(std::min<std::uint64_t>(early.size(), left));
  TY_RETURN_IF_ERROR(take(std::string_view(early).substr(0, have)));
  early.erase(0, have);
  while (left > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), left));
    TY_TRY(const std::size_t got, socket->ReadSome(std::span(block).first(wanted), wait_max));
    if (got == 0 && framing.until_close) return {};
    if (got == 0) return std::unexpected(Cut());
    TY_RETURN_IF_ERROR(take({block.data(), got}));
  }
  return {};
}

Result<ClientResponse> Client::State::Exchange(const ClientRequest& request) {
  answered = false;
  refused_early = false;
  const Status sent = SendRequest(request);
  // A server that refuses an upload answers before it has read it all, and may close: its answer says more
  // than EPIPE.
  if (!sent && sent.error().code != Code::kUnavailable) return std::unexpected(sent.error());
  Result<ResponseHead> head = ReadHead(request.wait_max);
  if (!head) return std::unexpected(sent ? head.error() : sent.error());
  const auto framing = ResponseFraming(*head, request.method == Method::kHead);
  if (!framing)
    return std::unexpected(Error{Code::kDataLoss, "the server's answer: " + framing.error().reason, ""});
  ClientResponse response;
  response.status = head->status;
  response.headers = std::move(head->headers);
  BodySink sink(request, response);
  TY_RETURN_IF_ERROR(ReadBody(*framing, request.wait_max, sink));
  if (!framing->keep_alive || !sent || refused_early || !early.empty()) Drop();
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
  TY_TRY(const ResponseHead head, state_->ReadHead(wait_max));
  if (head.status != 101) {
    const std::string status = std::to_string(head.status);
    state_->Drop();
    return std::unexpected(
        FailedPrecondition("the server does not upgrade the connection: it answered " + status));
  }
  Upgraded upgraded{state_->socket->Release(), std::move(state_->early)};
  state_->Drop();
  return upgraded;
}

}  // namespace trainyard::http
