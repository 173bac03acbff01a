#include "net/http/channel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace trainyard::http {

namespace {

constexpr std::size_t kFirstBufferBytes = 4096;
constexpr std::size_t kGentleCloseBytesMax = std::size_t{1} << 20;

}  // namespace

Channel::Channel(const asio::any_io_executor& executor, std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)),
      read_deadline_(executor, [this] { transport_->Cancel(); }),
      write_deadline_(executor, [this] { transport_->Cancel(); }) {}

Error Channel::Explain(Error error) const {
  if (!read_deadline_.expired() && !write_deadline_.expired()) return error;
  return {Code::kDeadlineExceeded, "the client was too slow", ""};
}

asio::awaitable<Status> Channel::Handshake(Duration wait_max) {
  read_deadline_.Set(wait_max);
  Status done = co_await transport_->Handshake();
  read_deadline_.Clear();
  co_return done;
}

asio::awaitable<Result<std::size_t>> Channel::ReadSome(std::span<std::byte> buffer, Duration wait_max) {
  if (ended_) co_return 0U;
  read_deadline_.Set(wait_max);
  Result<std::size_t> got = co_await transport_->ReadSome(buffer);
  read_deadline_.Clear();
  if (!got) co_return std::unexpected(Explain(std::move(got).error()));
  ended_ = *got == 0;
  co_return got;
}

asio::awaitable<Result<std::size_t>> Channel::Fill(Duration wait_max) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size() && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ == buffer_.size()) buffer_.resize(std::max(buffer_.size() * 2, kFirstBufferBytes));
  const std::span<char> space(buffer_.data() + end_, buffer_.size() - end_);
  Result<std::size_t> got = co_await ReadSome(std::as_writable_bytes(space), wait_max);
  end_ += got.value_or(0);
  co_return got;
}

asio::awaitable<Result<std::size_t>> Channel::Read(std::span<std::byte> buffer, Duration wait_max) {
  if (begin_ < end_) {
    const std::size_t count = std::min(buffer.size(), end_ - begin_);
    std::memcpy(buffer.data(), buffer_.data() + begin_, count);
    begin_ += count;
    co_return count;
  }
  co_return co_await ReadSome(buffer, wait_max);
}

asio::awaitable<Status> Channel::Write(std::string_view first, std::string_view second, Duration wait_max) {
  while (!first.empty() || !second.empty()) {
    write_deadline_.Set(wait_max);
    const Result<std::size_t> written = co_await transport_->WriteSome(first, second);
    write_deadline_.Clear();
    if (!written) co_return std::unexpected(Explain(written.error()));
    const std::size_t of_first = std::min(*written, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(*written - of_first);
  }
  co_return Status();
}

asio::awaitable<Status> Channel::SendFile(int descriptor, std::uint64_t offset, std::uint64_t length,
                                          Duration wait_max) {
  constexpr std::uint64_t kStepMax = std::uint64_t{1} << 30;
  while (length > 0) {
    write_deadline_.Set(wait_max);
    const auto step = static_cast<std::size_t>(std::min(length, kStepMax));
    const Result<std::size_t> sent = co_await transport_->SendFileSome(descriptor, offset, step);
    write_deadline_.Clear();
    if (!sent) co_return std::unexpected(Explain(sent.error()));
    if (*sent == 0)
      co_return std::unexpected(Error{Code::kDataLoss, "the file became shorter while it was sent", ""});
    offset += *sent;
    length -= *sent;
  }
  co_return Status();
}

asio::awaitable<void> Channel::CloseGently(Duration wait_max) {
  const auto give_up_at = std::chrono::steady_clock::now() + wait_max;
  write_deadline_.Set(wait_max);
  co_await transport_->ShutdownWrite();
  write_deadline_.Clear();
  std::array<std::byte, 4096> dropped{};
  std::size_t total = 0;
  while (total < kGentleCloseBytesMax) {
    const auto left = give_up_at - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) break;
    const Result<std::size_t> got = co_await Read(dropped, left);
    if (!got || *got == 0) break;
    total += *got;
  }
  transport_->Close();
}

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
