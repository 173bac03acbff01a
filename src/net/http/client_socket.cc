#include "net/http/client_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/name_lookup.h"
#include "base/async/unix_socket.h"
#include "base/tls/certificate.h"
#include "net/http/response_reader.h"

namespace trainyard::http {

namespace {

using std::chrono::milliseconds;

struct TlsDeleter {
  void operator()(SSL* tls) const noexcept { ::SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { ::SSL_CTX_free(context); }
};
using Tls = std::unique_ptr<SSL, TlsDeleter>;
struct BioDeleter {
  void operator()(BIO* bio) const noexcept { ::BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;
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

/// For an encrypted key: without this, OpenSSL would ask at the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*data*/) { return -1; }

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

/// Whether the context trusts the authorities from now on. `authorities`: PEM.
bool TrustOnly(SSL_CTX* context, const std::string& authorities) {
  const Bio bio(::BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size())));
  int count = 0;
  while (const tls::Certificate certificate{::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context), certificate.get()) != 1) return false;
    ++count;
  }
  return count > 0;
}

/// Makes the context present a certificate, with the intermediates that follow it in the text.
bool Present(SSL_CTX* context, const ClientTls& own) {
  const Bio bio(::BIO_new_mem_buf(own.certificate.data(), static_cast<int>(own.certificate.size())));
  const tls::Certificate first{::PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr)};
  if (first == nullptr || ::SSL_CTX_use_certificate(context, first.get()) != 1) return false;
  while (const tls::Certificate next{::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)})
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return false;
  const Bio key_bio(::BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size())));
  const tls::PrivateKey key{::PEM_read_bio_PrivateKey(key_bio.get(), nullptr, NoPassword, nullptr)};
  return key != nullptr && ::SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

Result<TlsContext> MakeTlsContext(const Endpoint& endpoint) {
  TlsContext context(::SSL_CTX_new(::TLS_client_method()));
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const ClientTls& own = endpoint.tls;
  const bool trusts = !own.authorities.empty() ? TrustOnly(context.get(), own.authorities)
                      : endpoint.ca_file.empty()
                          ? ::SSL_CTX_set_default_verify_paths(context.get()) == 1
                          : ::SSL_CTX_load_verify_file(context.get(), endpoint.ca_file.c_str()) == 1;
  const bool presents = own.certificate.empty() || (trusts && Present(context.get(), own));
  ::ERR_clear_error();
  if (!trusts && !own.authorities.empty())
    return std::unexpected(
        InvalidArgument("", "the text of the trusted authorities has no certificate in PEM"));
  if (!trusts)
    return std::unexpected(NotFound("cannot read the certificates in " + endpoint.ca_file.string()));
  if (!presents)
    return std::unexpected(
        InvalidArgument("", "the client certificate and its key are not PEM, or do not belong together"));
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
    const std::string& name = endpoint.tls.server_name.empty() ? endpoint.host : endpoint.tls.server_name;
    std::array<unsigned char, 16> address{};
    const bool is_address = ::inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
                            ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
    if (is_address) {
      ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(tls.get()), name.c_str());
    } else {
      ::SSL_set1_host(tls.get(), name.c_str());
      SSL_set_tlsext_host_name(tls.get(), name.c_str());
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
    const unsigned long first = ::ERR_peek_error();
    ::ERR_clear_error();
    if (verified != X509_V_OK) {
      const std::string why = ::X509_verify_cert_error_string(verified);
      return std::unexpected(
          Error{Code::kUnauthenticated, "the server's certificate is not trusted: " + why, ""});
    }
    // An alert: the server says, for example, that the client's certificate has expired.
    if (ERR_GET_LIB(first) == ERR_LIB_SSL && ERR_GET_REASON(first) >= SSL_AD_REASON_OFFSET)
      return std::unexpected(Unavailable("the server ended the TLS connection: " +
                                         std::string(::ERR_reason_error_string(first))));
    return std::unexpected(Lost(error_number == 0 ? ECONNRESET : error_number));
  }
};

ClientSocket::ClientSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClientSocket::~ClientSocket() = default;
ClientSocket::ClientSocket(ClientSocket&&) noexcept = default;
ClientSocket& ClientSocket::operator=(ClientSocket&&) noexcept = default;

namespace {

/// Asks a proxy, which has been connected, to connect to the server.
Status AskProxy(ClientSocket& proxy, const Endpoint& endpoint, milliseconds wait_max) {
  const std::string host =
      endpoint.host.find(':') == std::string::npos ? endpoint.host : "[" + endpoint.host + "]";
  const std::string authority = host + ":" + std::to_string(endpoint.port);
  TY_RETURN_IF_ERROR(
      proxy.Write("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n", wait_max));
  ResponseReader reader(/*to_head=*/true);  // after a success, the server's bytes follow the head
  const auto drop = [](std::string_view) { return Status(); };
  std::array<char, 1> byte{};  // so that nothing of the server is read here
  while (!reader.has_head()) {
    TY_TRY(const std::size_t got, proxy.ReadSome(byte, wait_max));
    if (got == 0) return reader.End();
    TY_TRY(std::ignore, reader.Feed({byte.data(), got}, drop));
  }
  const int status = reader.head().status;
  if (status < 200 || status >= 300)
    return std::unexpected(Unavailable("the proxy " + endpoint.proxy + " does not connect to " + authority +
                                       "; it answered " + std::to_string(status)));
  return {};
}

}  // namespace

Result<ClientSocket> ClientSocket::Connect(const Endpoint& endpoint, milliseconds wait_max) {
  if (!endpoint.proxy.empty() && endpoint.transport != Endpoint::Transport::kUnix) {
    TY_TRY(const Endpoint proxy, Endpoint::Parse(endpoint.proxy));
    if (proxy.transport != Endpoint::Transport::kTcp)
      return std::unexpected(
          InvalidArgument("", "the proxy '" + endpoint.proxy + "' is not http://HOST:PORT"));
    TY_TRY(ClientSocket socket, Connect(proxy, wait_max));
    TY_RETURN_IF_ERROR(AskProxy(socket, endpoint, wait_max));
    if (endpoint.transport == Endpoint::Transport::kTls)
      TY_RETURN_IF_ERROR(socket.StartTls(endpoint, wait_max));
    return socket;
  }
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
