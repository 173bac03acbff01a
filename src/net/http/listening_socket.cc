#include "net/http/listening_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/async/unix_socket.h"

namespace trainyard::http {

namespace {

constexpr int kBacklog = 4096;

Error BindError(int error_number, const std::string& what) {
  if (error_number == EADDRINUSE) return {Code::kAlreadyExists, what + " is in use", ""};
  return ErrnoError(error_number, "listen on " + what);
}

struct TcpAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<TcpAddress> MakeTcpAddress(const std::string& host, std::uint16_t port) {
  TcpAddress made;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&made.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&made.storage);
  const std::string text = host == "localhost" ? "127.0.0.1" : host;
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    made.size = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    made.size = sizeof(sockaddr_in6);
  } else {
    return std::unexpected(InvalidArgument("", "'" + host + "' is not an IP address"));
  }
  return made;
}

}  // namespace

Result<ListeningSocket> ListenOnTcp(const std::string& host, std::uint16_t port) {
  TY_TRY(TcpAddress address, MakeTcpAddress(host, port));
  const std::string what = host + ":" + std::to_string(port);
  UniqueFd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  auto* generic = reinterpret_cast<sockaddr*>(&address.storage);
  if (::bind(socket.get(), generic, address.size) != 0) return std::unexpected(BindError(errno, what));
  if (::listen(socket.get(), kBacklog) != 0) return std::unexpected(BindError(errno, what));
  if (::getsockname(socket.get(), generic, &address.size) != 0)
    return std::unexpected(ErrnoError(errno, "getsockname"));
  // The port is at the same place in both families' addresses.
  const std::uint16_t bound = ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
  return ListeningSocket{std::move(socket), bound};
}

Result<ListeningSocket> ListenOnUnix(const std::filesystem::path& path) {
  if (ConnectUnix(path))
    return std::unexpected(Error{Code::kAlreadyExists, path.string() + " is in use", ""});
  std::error_code ignored;
  if (std::filesystem::is_socket(path, ignored)) std::filesystem::remove(path, ignored);
  TY_TRY(const UnixAddress address, UnixAddress::Make(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  // bind gives the new file the mode of the socket's inode, so no other account can connect in between.
  if (::fchmod(socket.get(), 0600) != 0) return std::unexpected(ErrnoError(errno, "chmod"));
  if (::bind(socket.get(), address.get(), sizeof(address.address)) != 0) {
    return std::unexpected(BindError(errno, path.string()));
  }
  if (::listen(socket.get(), kBacklog) != 0) return std::unexpected(BindError(errno, path.string()));
  return ListeningSocket{std::move(socket), 0};
}

/// Only own addresses can be bound.
bool IsOwnAddress(const boost::asio::ip::address& address) {
  using boost::asio::ip::tcp;
  boost::asio::io_context unused;
  tcp::acceptor socket(unused);
  boost::system::error_code error;
  socket.open(address.is_v4() ? tcp::v4() : tcp::v6(), error);
  if (!error) socket.bind({address, 0}, error);
  return !error;
}

}  // namespace trainyard::http
