#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}  // namespace boost::asio::ssl

namespace trainyard::tls {
struct TlsIdentity;
}  // namespace trainyard::tls

namespace trainyard::http {

namespace asio = boost::asio;
using StreamSocket = asio::generic::stream_protocol::socket;

/// One connection's bytes, plain or with TLS. Loop thread only; one read and one write at a time. All
/// errors are kUnavailable: the connection cannot be used any more.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Must be called before anything else.
  virtual asio::awaitable<Status> Handshake() = 0;
  /// 0 at the end of the stream.
  virtual asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) = 0;
  /// Writes some of `first`, then of `second`; at least one byte unless both are empty.
  virtual asio::awaitable<Result<std::size_t>> WriteSome(std::string_view first, std::string_view second) = 0;
  /// Sends some bytes of a file, at most `count`; 0: the file is shorter than that.
  virtual asio::awaitable<Result<std::size_t>> SendFileSome(int descriptor, std::uint64_t offset,
                                                            std::size_t count) = 0;
  /// Announces that nothing more will be written. Reading is still possible.
  virtual asio::awaitable<void> ShutdownWrite() = 0;
  /// Ends pending operations with an error.
  virtual void Cancel() = 0;
  /// Like Cancel, also for all later operations.
  virtual void Close() = 0;
  /// "http" or "https".
  [[nodiscard]] virtual std::string_view scheme() const noexcept = 0;
  /// Whether the handshake selected HTTP/2.
  [[nodiscard]] virtual bool is_http2() const noexcept { return false; }
};

[[nodiscard]] std::unique_ptr<Transport> MakePlainTransport(StreamSocket socket);
/// `context` outlives the transport.
[[nodiscard]] std::unique_ptr<Transport> MakeTlsTransport(StreamSocket socket, asio::ssl::context& context);
/// Whether a listener with TLS also speaks HTTP/2.
enum class Http2 : bool { kNever, kForClientsWithoutHttp1 };
/// The TLS context of a listener; TLS 1.2 or newer. kForClientsWithoutHttp1: HTTP/2 is selected for clients
/// whose handshake (ALPN, RFC 7301) lists "h2" and not "http/1.1", as that of gRPC does. kInvalidArgument:
/// the certificate or its key cannot be used.
[[nodiscard]] Result<asio::ssl::context> MakeServerTls(const tls::TlsIdentity& identity,
                                                       Http2 http2 = Http2::kNever);
/// The transport for the side that connected: the context decides what the server has to prove.
[[nodiscard]] std::unique_ptr<Transport> MakeTlsClientTransport(StreamSocket socket,
                                                                asio::ssl::context& context);

}  // namespace trainyard::http
