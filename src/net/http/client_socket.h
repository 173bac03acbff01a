#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/http/client.h"

namespace trainyard::http {

/// A client reads this many bytes of a body at once.
inline constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

/// A connected socket with a deadline on every wait, plain or with TLS. Blocks; one thread at a time.
class ClientSocket {
 public:
  /// Connects and, with TLS, checks the server's name and certificate.
  [[nodiscard]] static Result<ClientSocket> Connect(const Endpoint& endpoint,
                                                    std::chrono::milliseconds wait_max);
  /// Continues a plain connection with TLS, as Connect does it. Nothing may be left to read.
  [[nodiscard]] Status StartTls(const Endpoint& endpoint, std::chrono::milliseconds wait_max);
  ~ClientSocket();
  ClientSocket(ClientSocket&&) noexcept;
  ClientSocket& operator=(ClientSocket&&) noexcept;

  /// 0 at the end of the stream.
  [[nodiscard]] Result<std::size_t> ReadSome(std::span<char> buffer, std::chrono::milliseconds wait_max);
  [[nodiscard]] Status Write(std::string_view bytes, std::chrono::milliseconds wait_max);
  /// Whether bytes or the end of the stream have arrived. Between two requests this means that the kept
  /// connection is dead; during an upload, that the server responds early.
  [[nodiscard]] bool HasInput();
  /// For poll; this object keeps ownership.
  [[nodiscard]] int descriptor() const noexcept;
  /// Releases the plain socket, set to blocking mode.
  [[nodiscard]] UniqueFd Release();

 private:
  struct State;
  explicit ClientSocket(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http
