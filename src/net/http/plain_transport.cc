#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "net/http/transport.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kSendFileStep = std::size_t{1} << 20;  // one turn of the loop for each

std::unexpected<Error> Lost(const boost::system::error_code& error) {
  return std::unexpected(Unavailable("the connection was lost: " + error.message()));
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(StreamSocket socket) : socket_(std::move(socket)) {}

  asio::awaitable<Status> Handshake() override { co_return Status(); }

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    const asio::mutable_buffer space(buffer.data(), buffer.size());
    const auto [error, count] = co_await socket_.async_read_some(space, asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::eof) co_return 0U;
    if (error) co_return Lost(error);
    co_return count;
  }

  asio::awaitable<Result<std::size_t>> WriteSome(std::string_view first, std::string_view second) override {
    // The kernel nearly always accepts it at once, without waiting in the loop.
    std::array<iovec, 2> parts = {iovec{const_cast<char*>(first.data()), first.size()},
                                  iovec{const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t written = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) co_return static_cast<std::size_t>(written);
    const std::array<asio::const_buffer, 2> buffers = {asio::const_buffer(first.data(), first.size()),
                                                       asio::const_buffer(second.data(), second.size())};
    const auto [error, count] =
        co_await socket_.async_write_some(buffers, asio::as_tuple(asio::use_awaitable));
    if (error) co_return Lost(error);
    co_return count;
  }

  asio::awaitable<Result<std::size_t>> SendFileSome(int descriptor, std::uint64_t offset,
                                                    std::size_t count) override {
    while (true) {
      const auto [error] =
          co_await socket_.async_wait(StreamSocket::wait_write, asio::as_tuple(asio::use_awaitable));
      if (error) co_return Lost(error);
      auto position = static_cast<off_t>(offset);
      const ssize_t sent =
          ::sendfile(socket_.native_handle(), descriptor, &position, std::min(count, kSendFileStep));
      if (sent >= 0) co_return static_cast<std::size_t>(sent);
      if (errno != EAGAIN && errno != EINTR) co_return std::unexpected(ErrnoError(errno, "sendfile"));
    }
  }

  asio::awaitable<void> ShutdownWrite() override {
    boost::system::error_code ignored;
    socket_.shutdown(StreamSocket::shutdown_send, ignored);
    co_return;
  }

  void Cancel() override {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }

  void Close() override {
    boost::system::error_code ignored;
    socket_.shutdown(StreamSocket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  [[nodiscard]] std::string_view scheme() const noexcept override { return "http"; }

 private:
  StreamSocket socket_;
};

}  // namespace

std::unique_ptr<Transport> MakePlainTransport(StreamSocket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace trainyard::http
