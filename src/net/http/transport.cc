#include "net/http/transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <vector>

#include "base/tls/tls_identity.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kSendFileStep = std::size_t{1} << 20;  // one turn of the loop for each

std::unexpected<Error> Lost(const boost::system::error_code& error) {
  return std::unexpected(Unavailable("the connection was lost: " + error.message()));
}

/// What both kinds have in common; `Stream` is the socket, or TLS on it.
template <class Stream>
class StreamTransport : public Transport {
 public:
  explicit StreamTransport(Stream stream) : stream_(std::move(stream)) {}

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const asio::mutable_buffer space(buffer.data(), buffer.size());
    const auto [error, count] = co_await stream_.async_read_some(space, asio::as_tuple(asio::use_awaitable));
    // A TLS peer that closes without close_notify: the message's length tells whether something is missing.
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) co_return 0U;
    if (error) co_return Lost(error);
    co_return count;
  }

  void Cancel() override {
    boost::system::error_code ignored;
    stream_.lowest_layer().cancel(ignored);
  }

  void Close() override {
    boost::system::error_code ignored;
    stream_.lowest_layer().shutdown(StreamSocket::shutdown_both, ignored);
    stream_.lowest_layer().close(ignored);
  }

 protected:
  Stream stream_;
};

class PlainTransport final : public StreamTransport<StreamSocket> {
 public:
  using StreamTransport::StreamTransport;

  asio::awaitable<Status> Handshake() override { co_return Status(); }

  asio::awaitable<Result<std::size_t>> WriteSome(std::string_view first, std::string_view second) override {
    // The kernel nearly always accepts it at once, without waiting in the loop.
    std::array<iovec, 2> parts = {iovec{const_cast<char*>(first.data()), first.size()},
                                  iovec{const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t written = ::sendmsg(stream_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) co_return static_cast<std::size_t>(written);
    const std::array<asio::const_buffer, 2> buffers = {asio::const_buffer(first.data(), first.size()),
                                                       asio::const_buffer(second.data(), second.size())};
    const auto [error, count] =
        co_await stream_.async_write_some(buffers, asio::as_tuple(asio::use_awaitable));
    if (error) co_return Lost(error);
    co_return count;
  }

  asio::awaitable<Result<std::size_t>> SendFileSome(int descriptor, std::uint64_t offset,
                                                    std::size_t count) override {
    while (true) {
      const auto [error] =
          co_await stream_.async_wait(StreamSocket::wait_write, asio::as_tuple(asio::use_awaitable));
      if (error) co_return Lost(error);
      auto position = static_cast<off_t>(offset);
      const ssize_t sent =
          ::sendfile(stream_.native_handle(), descriptor, &position, std::min(count, kSendFileStep));
      if (sent >= 0) co_return static_cast<std::size_t>(sent);
      if (errno != EAGAIN && errno != EINTR) co_return std::unexpected(ErrnoError(errno, "sendfile"));
    }
  }

  asio::awaitable<void> ShutdownWrite() override {
    boost::system::error_code ignored;
    stream_.shutdown(StreamSocket::shutdown_send, ignored);
    co_return;
  }

  [[nodiscard]] std::string_view scheme() const noexcept override { return "http"; }
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(StreamSocket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

namespace {

constexpr std::size_t kFileStep = std::size_t{64} << 10;
constexpr std::string_view kHttp1Name = "http/1.1";
constexpr std::string_view kHttp2Name = "h2";

class TlsTransport final : public StreamTransport<asio::ssl::stream<StreamSocket>> {
 public:
  using Side = asio::ssl::stream_base::handshake_type;

  TlsTransport(StreamSocket socket, asio::ssl::context& context, Side side)
      : StreamTransport({std::move(socket), context}), side_(side) {}

  asio::awaitable<Status> Handshake() override {
    const auto [error] = co_await stream_.async_handshake(side_, asio::as_tuple(asio::use_awaitable));
    if (error) co_return Lost(error);
    co_return Status();
  }

  asio::awaitable<Result<std::size_t>> WriteSome(std::string_view first, std::string_view second) override {
    const std::string_view part = first.empty() ? second : first;
    const asio::const_buffer buffer(part.data(), part.size());
    is_writing_ = true;
    const auto [error, count] =
        co_await stream_.async_write_some(buffer, asio::as_tuple(asio::use_awaitable));
    is_writing_ = false;
    if (error) co_return Lost(error);
    co_return count;
  }

  asio::awaitable<Result<std::size_t>> SendFileSome(int descriptor, std::uint64_t offset,
                                                    std::size_t count) override {
    file_buffer_.resize(kFileStep);
    const std::size_t wanted = std::min(count, file_buffer_.size());
    const ssize_t got = ::pread(descriptor, file_buffer_.data(), wanted, static_cast<off_t>(offset));
    if (got < 0) co_return std::unexpected(ErrnoError(errno, "read"));
    if (got == 0) co_return 0U;
    co_return co_await WriteSome({file_buffer_.data(), static_cast<std::size_t>(got)}, {});
  }

  asio::awaitable<void> ShutdownWrite() override {
    // Sends close_notify, then waits for the peer's, which many never send: the caller's deadline ends that.
    co_await stream_.async_shutdown(asio::as_tuple(asio::use_awaitable));
    boost::system::error_code ignored;
    stream_.lowest_layer().shutdown(StreamSocket::shutdown_send, ignored);
  }

  void Close() override {
    SendCloseNotify();
    StreamTransport::Close();
  }

  [[nodiscard]] std::string_view scheme() const noexcept override { return "https"; }

  [[nodiscard]] bool is_http2() const noexcept override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    ::SSL_get0_alpn_selected(const_cast<TlsTransport*>(this)->stream_.native_handle(), &name, &size);
    return std::string_view(reinterpret_cast<const char*>(name), size) == kHttp2Name;
  }

 private:
  /// Without close_notify a client cannot tell the end from an attack, and some report an error (RFC 8446
  /// section 6.1). It is sent as far as that is possible at once, and not into a record that is being
  /// written.
  void SendCloseNotify() {
    ::SSL* const tls = stream_.native_handle();
    const bool is_sent = (::SSL_get_shutdown(tls) & SSL_SENT_SHUTDOWN) != 0;
    if (is_writing_ || is_sent || ::SSL_in_init(tls) != 0 || !stream_.lowest_layer().is_open()) return;
    ::BIO* const record = ::BIO_new(::BIO_s_mem());
    ::SSL_set0_wbio(tls, record);  // which owns it, and which nothing else writes to any more
    ::SSL_shutdown(tls);
    ::ERR_clear_error();
    char* bytes = nullptr;
    const long size = ::BIO_get_mem_data(record, &bytes);
    if (size <= 0) return;
    ::send(stream_.lowest_layer().native_handle(), bytes, static_cast<std::size_t>(size),
           MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  Side side_;
  bool is_writing_ = false;
  std::vector<char> file_buffer_;
};

}  // namespace

std::unique_ptr<Transport> MakeTlsTransport(StreamSocket socket, asio::ssl::context& context) {
  return std::make_unique<TlsTransport>(std::move(socket), context, asio::ssl::stream_base::server);
}

std::unique_ptr<Transport> MakeTlsClientTransport(StreamSocket socket, asio::ssl::context& context) {
  return std::make_unique<TlsTransport>(std::move(socket), context, asio::ssl::stream_base::client);
}

namespace {

/// OpenSSL's callback: selects one of the protocols that the client lists, each after its length.
int SelectProtocol(::SSL* /*tls*/, const unsigned char** selected, unsigned char* selected_size,
                   const unsigned char* listed, unsigned listed_size, void* /*unused*/) {
  const auto select = [selected, selected_size](std::string_view name) {
    *selected = reinterpret_cast<const unsigned char*>(name.data());
    *selected_size = static_cast<unsigned char>(name.size());
    return SSL_TLSEXT_ERR_OK;
  };
  std::string_view rest(reinterpret_cast<const char*>(listed), listed_size);
  bool lists_http2 = false;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(1, static_cast<unsigned char>(rest[0]));
    if (name == kHttp1Name) return select(kHttp1Name);
    lists_http2 = lists_http2 || name == kHttp2Name;
    rest.remove_prefix(1 + name.size());
  }
  return lists_http2 ? select(kHttp2Name) : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

Result<asio::ssl::context> MakeServerTls(const tls::TlsIdentity& identity, Http2 http2) {
  asio::ssl::context tls(asio::ssl::context::tls_server);
  boost::system::error_code error;
  ::SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_mode(tls.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  if (http2 == Http2::kForClientsWithoutHttp1)
    ::SSL_CTX_set_alpn_select_cb(tls.native_handle(), SelectProtocol, nullptr);
  tls.use_certificate_chain(asio::buffer(identity.certificate_chain_pem), error);
  if (!error) tls.use_private_key(asio::buffer(identity.private_key_pem), asio::ssl::context::pem, error);
  if (error)
    return std::unexpected(
        InvalidArgument("", "the server's certificate cannot be used: " + error.message()));
  return tls;
}

}  // namespace trainyard::http
