#include "http/client_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "http/chunk_decoder.h"
#include "http/client_head.h"
#include "http/client_socket.h"
#include "http/head.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kHeadBytesMax = std::size_t{256} << 10;

Error Cut() { return {Code::kDataLoss, "the server's answer is cut", ""}; }

}  // namespace

struct ClientStream::State {
  explicit State(ClientSocket connected) : socket(std::move(connected)) {}

  Result<std::size_t> Fill(std::chrono::milliseconds wait_max) {
    TY_TRY(const std::size_t got, socket.ReadSome(block, wait_max));
    early.append(block.data(), got);
    return got;
  }
  Status ReadHead(std::chrono::milliseconds wait_max);
  Result<std::string> Decode();
  [[nodiscard]] bool done() const {
    return framing.chunked ? chunks.done() : framing.content_length && left == 0;
  }

  ClientSocket socket;
  ResponseHead head;
  Framing framing;
  ChunkDecoder chunks;
  std::uint64_t left = 0;  ///< of a counted body
  std::string early;       ///< read, but not decoded yet
  std::vector<char> block = std::vector<char>(kBlockBytes);
};

Status ClientStream::State::ReadHead(std::chrono::milliseconds wait_max) {
  HeadScanner scanner;
  while (true) {
    const auto end = scanner.Scan(early);
    if (!end || (early.size() > kHeadBytesMax && !*end))
      return std::unexpected(Error{Code::kDataLoss, "the server's answer is not HTTP", ""});
    if (*end) {
      auto parsed = ParseResponseHead(std::string_view(early).substr(0, **end));
      early.erase(0, **end);
      if (!parsed)
        return std::unexpected(Error{Code::kDataLoss, "the server's answer: " + parsed.error().reason, ""});
      head = *std::move(parsed);
      if (head.status >= 200) return {};
      scanner.Reset();  // 100 Continue and its like: the answer comes after it
      continue;
    }
    TY_TRY(const std::size_t got, Fill(wait_max));
    if (got == 0) return std::unexpected(Unavailable("the server closed the connection without an answer"));
  }
}

/// Takes what has come of the body out of `early`.
Result<std::string> ClientStream::State::Decode() {
  if (!framing.chunked) {
    const auto count = framing.content_length
                           ? static_cast<std::size_t>(std::min<std::uint64_t>(early.size(), left))
                           : early.size();
    std::string text = early.substr(0, count);
    early.erase(0, count);
    left -= framing.content_length ? count : 0;
    return text;
  }
  std::string text(early.size(), '\0');
  std::size_t size = 0;
  while (!early.empty() && !chunks.done()) {
    const auto space = std::as_writable_bytes(std::span(text).subspan(size));
    TY_TRY(const ChunkDecoder::Step step, chunks.Decode(early, space));
    early.erase(0, step.consumed);
    size += step.produced;
    if (step.consumed == 0) break;
  }
  text.resize(size);
  return text;
}

ClientStream::ClientStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClientStream::~ClientStream() = default;
ClientStream::ClientStream(ClientStream&&) noexcept = default;
ClientStream& ClientStream::operator=(ClientStream&&) noexcept = default;

Result<ClientStream> ClientStream::Open(const Endpoint& endpoint, const ClientRequest& request) {
  TY_RETURN_IF_ERROR(CheckRequest(request));
  TY_TRY(ClientSocket socket, ClientSocket::Connect(endpoint, request.wait_max));
  auto state = std::make_unique<State>(std::move(socket));
  const std::string bytes = PrintHead(endpoint, request) + std::get<std::string>(request.body);
  TY_RETURN_IF_ERROR(state->socket.Write(bytes, request.wait_max));
  TY_RETURN_IF_ERROR(state->ReadHead(request.wait_max));
  const auto framing = ResponseFraming(state->head, false);
  if (!framing)
    return std::unexpected(Error{Code::kDataLoss, "the server's answer: " + framing.error().reason, ""});
  state->framing = *framing;
  state->left = framing->content_length.value_or(0);
  return ClientStream(std::move(state));
}

int ClientStream::status() const noexcept { return state_->head.status; }

const Headers& ClientStream::headers() const noexcept { return state_->head.headers; }

Result<std::string> ClientStream::Read(std::chrono::milliseconds wait_max) {
  while (true) {
    TY_TRY(std::string text, state_->Decode());
    if (!text.empty() || state_->done()) return text;
    TY_TRY(const std::size_t got, state_->Fill(wait_max));
    if (got > 0) continue;
    if (state_->framing.until_close) return std::string();
    return std::unexpected(Cut());
  }
}

int ClientStream::descriptor() const noexcept { return state_->socket.descriptor(); }

}  // namespace trainyard::http
