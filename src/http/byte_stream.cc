#include "http/byte_stream.h"

#include <utility>

namespace trainyard::http {

namespace {

constexpr Duration kNoDeadline = std::chrono::hours(24 * 365);

class ChannelStream final : public ByteStream {
 public:
  ChannelStream(std::shared_ptr<Channel> channel, Duration write_wait_max)
      : channel_(std::move(channel)), write_wait_max_(write_wait_max) {}
  ~ChannelStream() override { channel_->Close(); }

  asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    return ReadFrom(channel_, buffer);
  }

  asio::awaitable<Status> Write(std::string bytes) override {
    return WriteTo(channel_, std::move(bytes), write_wait_max_);
  }

  void Close() override { channel_->Close(); }

 private:
  // The channel by value: an operation in progress keeps it alive when the stream is dropped.
  static asio::awaitable<Result<std::size_t>> ReadFrom(std::shared_ptr<Channel> channel,
                                                       std::span<std::byte> buffer) {
    co_return co_await channel->Read(buffer, kNoDeadline);
  }
  static asio::awaitable<Status> WriteTo(std::shared_ptr<Channel> channel, std::string bytes,
                                         Duration wait_max) {
    co_return co_await channel->Write(bytes, {}, wait_max);
  }

  std::shared_ptr<Channel> channel_;
  Duration write_wait_max_;
};

}  // namespace

std::shared_ptr<ByteStream> MakeByteStream(std::shared_ptr<Channel> channel, Duration write_wait_max) {
  return std::make_shared<ChannelStream>(std::move(channel), write_wait_max);
}

}  // namespace trainyard::http
