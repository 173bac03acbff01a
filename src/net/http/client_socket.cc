#include "net/http/client_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/async/name_lookup.h"
#include "base/async/unix_socket.h"

namespace trainyard::http {

namespace {

using std::chrono::milliseconds;

struct TlsDeleter {
  void operator()(SSL* tls) const noexcept { ::SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { ::SSL_CTX_free(context); }
};
using Tls = std::unique_ptr<SSL, TlsDeleter>;
using TlsContext = std::unique_ptr<SSL_CTX, TlsDeleter>;

Status WaitUntilReady(int descriptor, short events, milliseconds wait_max) {
  pollfd watched{.fd = descriptor, .events = events, .revents = 0};
  while (true) {
    const int ready =
        ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(wait_max.count(), 0, 86'400'000)));
    if (ready > 0) return {};
    if (ready == 0)
      return std::unexpected(Error{Code::kDeadlineExceeded, "the server did not answer in time", ""});
    if (errno != EINTR) return std::unexpected(ErrnoError(errno, "poll"));
  }
}

Error Lost(int error_number) {
  return Unavailable(ErrnoError(error_number, "the connection to the server was lost").message);
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: if the server closed the connection, SIGPIPE would
// end this program.
int BioWrite(BIO* bio, const char* data, int size) {
  const int descriptor = static_cast<const UniqueFd*>(::BIO_get_data(bio))->get();
  ::BIO_clear_retry_flags(bio);
  const ssize_t written = ::send(descriptor, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(written);
}

int BioRead(BIO* bio, char* data, int size) {
  const int descriptor = static_cast<const UniqueFd*>(::BIO_get_data(bio))->get();
  ::BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(descriptor, data, static_cast<std::size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long BioControl(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* SocketMethod() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method =
        ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    ::BIO_meth_set_write(method, BioWrite);
    ::BIO_meth_set_read(method, BioRead);
    ::BIO_meth_set_ctrl(method, BioControl);
    return method;
  }();
  return kMethod;
}

Result<UniqueFd> ConnectTo(const asio::ip::tcp::endpoint& endpoint, const std::string& what,
                           milliseconds wait_max) {
  UniqueFd socket(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  const auto size_of_address = static_cast<socklen_t>(endpoint.size());
  int error = ::connect(socket.get(), endpoint.data(), size_of_address) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    TY_RETURN_IF_ERROR(WaitUntilReady(socket.get(), POLLOUT, wait_max));
    socklen_t size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return std::unexpected(Unavailable(ErrnoError(error, "cannot connect to " + what).message));
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

Result<UniqueFd> ConnectTcp(const Endpoint& endpoint, milliseconds wait_max) {
  const std::string what = endpoint.host + ":" + std::to_string(endpoint.port);
  TY_TRY(const std::vector<asio::ip::address> addresses, HostAddresses(endpoint.host));
  Result<UniqueFd> connected = std::unexpected(Unavailable("no address for " + endpoint.host));
  for (const asio::ip::address& address : addresses) {
    connected = ConnectTo({address, endpoint.port}, what, wait_max);
    if (connected) break;
  }
  return connected;
}

Result<UniqueFd> ConnectUnixSocket(const Endpoint& endpoint) {
  TY_TRY(UniqueFd socket, ConnectUnix(endpoint.socket_path));
  if (::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0) return std::unexpected(ErrnoError(errno, "fcntl"));
  return socket;
}

Result<TlsContext> MakeTlsContext(const Endpoint& endpoint) {
  TlsContext context(::SSL_CTX_new(::TLS_client_method()));
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const bool trusts = endpoint.ca_file.empty()
                          ? ::SSL_CTX_set_default_verify_paths(context.get()) == 1
                          : ::SSL_CTX_load_verify_file(context.get(), endpoint.ca_file.c_str()) == 1;
  ::ERR_clear_error();
  if (!trusts)
    return std::unexpected(NotFound("cannot read the certificates in " + endpoint.ca_file.string()));
  return context;
}

}  // namespace

struct ClientSocket::State {
  UniqueFd socket;
  TlsContext context;
  Tls tls;

  ~State() {
    if (tls == nullptr) return;
    ::SSL_shutdown(tls.get());
    ::ERR_clear_error();
  }

  Status StartTls(const Endpoint& endpoint, milliseconds wait_max) {
    TY_TRY(context, MakeTlsContext(endpoint));
    tls.reset(::SSL_new(context.get()));
    BIO* bio = ::BIO_new(SocketMethod());
    ::BIO_set_data(bio, &socket);
    ::BIO_set_init(bio, 1);
    ::SSL_set_bio(tls.get(), bio, bio);
    std::array<unsigned char, 16> address{};
    const bool is_address = ::inet_pton(AF_INET, endpoint.host.c_str(), address.data()) == 1 ||
                            ::inet_pton(AF_INET6, endpoint.host.c_str(), address.data()) == 1;
    if (is_address) {
      ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(tls.get()), endpoint.host.c_str());
    } else {
      ::SSL_set1_host(tls.get(), endpoint.host.c_str());
      SSL_set_tlsext_host_name(tls.get(), endpoint.host.c_str());
    }
    while (true) {
      const int done = ::SSL_connect(tls.get());
      if (done == 1) return {};
      TY_RETURN_IF_ERROR(WaitForTls(done, wait_max));
    }
  }

  /// After a TLS call that did not succeed: waits for what it needs, or returns why it failed.
  Status WaitForTls(int result, milliseconds wait_max) {
    const int error_number = errno;
    switch (::SSL_get_error(tls.get(), result)) {
      case SSL_ERROR_WANT_READ: return WaitUntilReady(socket.get(), POLLIN, wait_max);
      case SSL_ERROR_WANT_WRITE: return WaitUntilReady(socket.get(), POLLOUT, wait_max);
      default: break;
    }
    const long verified = ::SSL_get_verify_result(tls.get());
    ::ERR_clear_error();
    if (verified != X509_V_OK) {
      const std::string why = ::X509_verify_cert_error_string(verified);
      return std::unexpected(
          Error{Code::kUnauthenticated, "the server's certificate is not trusted: " + why, ""});
    }
    return std::unexpected(Lost(error_number == 0 ? ECONNRESET : error_number));
  }
};

ClientSocket::ClientSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClientSocket::~ClientSocket() = default;
ClientSocket::ClientSocket(ClientSocket&&) noexcept = default;
ClientSocket& ClientSocket::operator=(ClientSocket&&) noexcept = default;

Result<ClientSocket> ClientSocket::Connect(const Endpoint& endpoint, milliseconds wait_max) {
  auto state = std::make_unique<State>();
  const bool is_unix = endpoint.transport == Endpoint::Transport::kUnix;
  TY_TRY(state->socket, is_unix ? ConnectUnixSocket(endpoint) : ConnectTcp(endpoint, wait_max));
  if (endpoint.transport == Endpoint::Transport::kTls)
    TY_RETURN_IF_ERROR(state->StartTls(endpoint, wait_max));
  return ClientSocket(std::move(state));
}

Status ClientSocket::StartTls(const Endpoint& endpoint, milliseconds wait_max) {
  return state_->StartTls(endpoint, wait_max);
}

Result<std::size_t> ClientSocket::ReadSome(std::span<char> buffer, milliseconds wait_max) {
  while (true) {
    if (state_->tls != nullptr) {
      std::size_t got = 0;
      const int done = ::SSL_read_ex(state_->tls.get(), buffer.data(), buffer.size(), &got);
      if (done == 1) return got;
      const int error = ::SSL_get_error(state_->tls.get(), done);
      if (error == SSL_ERROR_ZERO_RETURN) return 0U;
      TY_RETURN_IF_ERROR(state_->WaitForTls(done, wait_max));
      continue;
    }
    const ssize_t got = ::recv(state_->socket.get(), buffer.data(), buffer.size(), 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN && errno != EINTR) return std::unexpected(Lost(errno));
    TY_RETURN_IF_ERROR(WaitUntilReady(state_->socket.get(), POLLIN, wait_max));
  }
}

Status ClientSocket::Write(std::string_view bytes, milliseconds wait_max) {
  while (!bytes.empty()) {
    if (state_->tls != nullptr) {
      std::size_t written = 0;
      const int done = ::SSL_write_ex(state_->tls.get(), bytes.data(), bytes.size(), &written);
      if (done != 1) TY_RETURN_IF_ERROR(state_->WaitForTls(done, wait_max));
      bytes.remove_prefix(written);
      continue;
    }
    const ssize_t written = ::send(state_->socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return std::unexpected(Lost(errno));
    TY_RETURN_IF_ERROR(WaitUntilReady(state_->socket.get(), POLLOUT, wait_max));
  }
  return {};
}

bool ClientSocket::HasInput() {
  pollfd watched{.fd = state_->socket.get(), .events = POLLIN, .revents = 0};
  if (::poll(&watched, 1, 0) == 0) return false;
  if (state_->tls == nullptr) return true;
  // Session tickets arrive after the handshake: only data or the end of the stream counts.
  char peeked = 0;
  std::size_t got = 0;
  const int done = ::SSL_peek_ex(state_->tls.get(), &peeked, 1, &got);
  const bool nothing = done != 1 && ::SSL_get_error(state_->tls.get(), done) == SSL_ERROR_WANT_READ;
  ::ERR_clear_error();
  return !nothing;
}

int ClientSocket::descriptor() const noexcept { return state_->socket.get(); }

UniqueFd ClientSocket::Release() {
  ::fcntl(state_->socket.get(), F_SETFL, 0);
  return std::move(state_->socket);
}

}  // namespace trainyard::http
