#include "net/access/kept_streams.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

namespace trainyard::access::kept_streams_test {
namespace {

using boost::asio::awaitable;
using http::StreamPart;

/// Runs a loop until the answer is there.
template <class T>
T Ask(awaitable<T> question) {
  std::optional<T> answer;
  boost::asio::io_context loop{1};
  boost::asio::co_spawn(loop, std::move(question), [&answer](std::exception_ptr error, T value) {
    if (error) std::rethrow_exception(error);
    answer = std::move(value);
  });
  loop.run();
  return *std::move(answer);
}

/// A source whose reader loses the right to it while it waits for the second piece.
struct Source {
  bool may = true;
  int given = 0;

  void Give() { may = ++given < 2; }
};

awaitable<bool> MayOf(const Source& source) { co_return source.may; }

awaitable<Result<StreamPart>> NextOf(Source& source) {
  source.Give();
  co_return StreamPart("a part");
}

class Body final : public http::BodyReader {
 public:
  explicit Body(Source& source) : source_(source) {}
  awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    source_.Give();
    co_return buffer.size();
  }

 private:
  Source& source_;
};

TEST(KeptStreams, GiveNoPartThatCameAfterTheRightWasLost) {
  Source source;
  http::Response response;
  response.body = http::StreamBody{.next = [&source] { return NextOf(source); }};
  KeepOnlyWhile([&source] { return MayOf(source); }, response);
  const auto& next = std::get<http::StreamBody>(response.body).next;
  EXPECT_EQ(Ask(next())->Joined(), "a part");
  EXPECT_EQ(Ask(next())->size(), 0U) << "an empty part ends the stream";
}

TEST(KeptStreams, TakeNoBodyThatCameAfterTheRightWasLost) {
  Source source;
  Body body(source);
  http::Request request;
  request.body = &body;
  const KeptBody kept(request, [&source] { return MayOf(source); });
  std::array<std::byte, 4> buffer{};
  EXPECT_EQ(Ask(request.body->ReadSome(buffer)), buffer.size());
  const auto refused = Ask(request.body->ReadSome(buffer));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
}

}  // namespace
}  // namespace trainyard::access::kept_streams_test
