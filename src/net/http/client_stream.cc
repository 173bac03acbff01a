#include "net/http/client_stream.h"

#include <cstddef>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "net/http/client_socket.h"
#include "net/http/response_reader.h"

namespace trainyard::http {

struct ClientStream::State {
  explicit State(ClientSocket connected) : socket(std::move(connected)) {}

  /// Waits for more bytes of the response.
  Status Receive(std::chrono::milliseconds wait_max) {
    TY_TRY(const std::size_t got, socket.ReadSome(block, wait_max));
    if (got == 0) return reader.End();
    const auto keep = [this](std::string_view bytes) -> Status {
      body.append(bytes);
      return {};
    };
    TY_TRY(std::ignore, reader.Feed({block.data(), got}, keep));
    return {};
  }

  ClientSocket socket;
  ResponseReader reader;
  std::string body;  ///< the part that has arrived and was not read
  std::vector<char> block = std::vector<char>(kBlockBytes);
};

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
  while (!state->reader.has_head()) TY_RETURN_IF_ERROR(state->Receive(request.wait_max));
  return ClientStream(std::move(state));
}

int ClientStream::status() const noexcept { return state_->reader.head().status; }

const Headers& ClientStream::headers() const noexcept { return state_->reader.head().headers; }

Result<std::string> ClientStream::Read(std::chrono::milliseconds wait_max) {
  while (state_->body.empty() && !state_->reader.done()) TY_RETURN_IF_ERROR(state_->Receive(wait_max));
  return std::exchange(state_->body, {});
}

int ClientStream::descriptor() const noexcept { return state_->socket.descriptor(); }

}  // namespace trainyard::http
