#include "net/mux/pump.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>
#include <vector>

namespace trainyard::mux {

namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;

struct Ends {
  asio::posix::stream_descriptor descriptor;
  std::shared_ptr<Stream> stream;

  void Break() {
    stream->Reset();
    boost::system::error_code ignored;
    descriptor.close(ignored);
  }
};

asio::awaitable<void> CopyToStream(Ends& ends) {
  std::vector<char> buffer(kStepBytes);
  for (;;) {
    const auto [error, size] =
        co_await ends.descriptor.async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::eof) break;
    if (error) {
      // EIO is the end of a terminal that no process has open any more.
      if (error.value() == EIO) break;
      ends.Break();
      co_return;
    }
    if (!co_await ends.stream->Write({buffer.data(), size})) {
      ends.Break();
      co_return;
    }
  }
  ends.stream->CloseWrite();
}

asio::awaitable<void> CopyFromStream(Ends& ends) {
  std::vector<char> buffer(kStepBytes);
  for (;;) {
    const Result<std::size_t> size = co_await ends.stream->Read(buffer);
    if (!size) {
      ends.Break();
      co_return;
    }
    if (*size == 0) break;
    const auto [error, written] = co_await asio::async_write(
        ends.descriptor, asio::buffer(buffer.data(), *size), asio::as_tuple(asio::use_awaitable));
    if (error) {
      ends.Break();
      co_return;
    }
  }
  if (::shutdown(ends.descriptor.native_handle(), SHUT_WR) != 0 && errno == ENOTSOCK) ends.Break();
}

}  // namespace

asio::awaitable<void> Pump(std::shared_ptr<Stream> stream, UniqueFd descriptor) {
  using asio::experimental::awaitable_operators::operator&&;
  Ends ends{
      .descriptor = asio::posix::stream_descriptor(co_await asio::this_coro::executor, descriptor.Release()),
      .stream = std::move(stream)};
  co_await (CopyToStream(ends) && CopyFromStream(ends));
}

}  // namespace trainyard::mux
