#include "net/access/kept_streams.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "rules/iam/refusal.h"

namespace trainyard::access {

namespace {

using boost::asio::awaitable;
using http::ByteStream;
using http::StreamPart;
using Next = std::function<awaitable<Result<StreamPart>>()>;
using Run = std::function<awaitable<void>(std::shared_ptr<ByteStream> stream)>;

/// An empty part ends the stream, like its regular end.
awaitable<Result<StreamPart>> NextPart(std::shared_ptr<const StillMay> still_may,
                                       std::shared_ptr<const Next> next) {
  Result<StreamPart> part = co_await (*next)();
  if (!part || part->size() == 0) co_return part;
  const bool goes_on = co_await (*still_may)();
  if (!goes_on) co_return StreamPart();
  co_return part;
}

/// Never returns by itself: it is cancelled when the watched connection ends.
awaitable<void> Watch(std::shared_ptr<const StillMay> still_may, std::shared_ptr<ByteStream> stream) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (true) {
    timer.expires_after(kStreamRecheck);
    co_await timer.async_wait(boost::asio::use_awaitable);
    const bool goes_on = co_await (*still_may)();
    if (!goes_on) stream->Close();
  }
}

awaitable<void> RunWatched(std::shared_ptr<const StillMay> still_may, std::shared_ptr<const Run> run,
                           std::shared_ptr<ByteStream> stream) {
  using namespace boost::asio::experimental::awaitable_operators;
  awaitable<void> watched = (*run)(stream);
  awaitable<void> watcher = Watch(std::move(still_may), std::move(stream));
  co_await (std::move(watched) || std::move(watcher));
}

}  // namespace

awaitable<Result<std::size_t>> KeptBody::ReadSome(std::span<std::byte> buffer) {
  Result<std::size_t> read = co_await body_->ReadSome(buffer);
  const bool holds = co_await holds_();
  if (holds) co_return read;
  co_return std::unexpected(
      iam::BadToken("The credential was revoked before the request's body had arrived."));
}

void KeepOnlyWhile(StillMay still_may, http::Response& response) {
  auto shared = std::make_shared<const StillMay>(std::move(still_may));
  if (auto* stream = std::get_if<http::StreamBody>(&response.body)) {
    auto next = std::make_shared<const Next>(std::move(stream->next));
    stream->next = [shared, next] { return NextPart(shared, next); };
  } else if (auto* upgrade = std::get_if<http::UpgradeBody>(&response.body)) {
    auto run = std::make_shared<const Run>(std::move(upgrade->run));
    upgrade->run = [shared, run](std::shared_ptr<ByteStream> stream) {
      return RunWatched(shared, run, std::move(stream));
    };
  }
}

}  // namespace trainyard::access
