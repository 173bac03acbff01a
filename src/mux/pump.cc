#include "mux/pump.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>
#include <vector>

namespace trainyard::mux {

namespace {

using Socket = asio::generic::stream_protocol::socket;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);

struct Pair {
  std::shared_ptr<Stream> stream;
  Socket socket;

  void End() {
    stream->Reset();
    boost::system::error_code ignored;
    socket.close(ignored);
  }
};

asio::awaitable<void> FromSocket(std::shared_ptr<Pair> pair) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const auto [error, size] = co_await pair->socket.async_read_some(asio::buffer(piece), kQuiet);
    if (error == asio::error::eof) co_return pair->stream->CloseWrite();
    if (error) co_return pair->End();
    const Status written = co_await pair->stream->Write({piece.data(), size});
    if (!written) co_return pair->End();
  }
}

asio::awaitable<void> FromStream(std::shared_ptr<Pair> pair) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const Result<std::size_t> size = co_await pair->stream->Read(piece);
    if (!size) co_return pair->End();
    if (*size == 0) {
      boost::system::error_code ignored;
      pair->socket.shutdown(Socket::shutdown_send, ignored);
      co_return;
    }
    const auto [error, written] =
        co_await asio::async_write(pair->socket, asio::buffer(piece.data(), *size), kQuiet);
    if (error) co_return pair->End();
  }
}

}  // namespace

asio::awaitable<void> Pump(std::shared_ptr<Stream> stream, UniqueFd socket) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size);
  Socket ours(executor);
  boost::system::error_code error;
  ours.assign(asio::generic::stream_protocol(local.ss_family, SOCK_STREAM), socket.Release(), error);
  if (error) co_return stream->Reset();
  const auto pair = std::make_shared<Pair>(std::move(stream), std::move(ours));
  using namespace boost::asio::experimental::awaitable_operators;
  co_await (FromSocket(pair) && FromStream(pair));
}

}  // namespace trainyard::mux
