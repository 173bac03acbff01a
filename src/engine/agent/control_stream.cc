#include "engine/agent/control_stream.h"

#include <utility>

namespace trainyard::agent {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 10;

}  // namespace

ControlStream::ControlStream(asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream)
    : stream_(std::move(stream)), buffer_(kReadBytes), has_queued_(loop), sent_all_(loop) {
  sent_all_.Set();
}

void ControlStream::Send(const v1::FromAgent& frame) {
  if (over_) return;
  replica::AppendFrame(frame, queued_);
  sent_all_.Reset();
  has_queued_.Set();
}

asio::awaitable<void> ControlStream::SendAll() {
  while (!over_) {
    has_queued_.Reset();
    if (queued_.empty()) {
      sent_all_.Set();
      co_await has_queued_.Wait();
      continue;
    }
    const std::string bytes = std::exchange(queued_, {});
    const Status written = co_await stream_->Write(bytes);
    over_ = over_ || !written;
  }
  sent_all_.Set();
}

asio::awaitable<Result<v1::ToAgent>> ControlStream::Next() {
  for (;;) {
    std::string_view content;
    const Result<bool> complete = reader_.Next(content);
    if (!complete) co_return std::unexpected(complete.error());
    if (*complete) {
      v1::ToAgent frame;
      if (frame.ParseFromArray(content.data(), static_cast<int>(content.size()))) co_return frame;
      co_return std::unexpected(InvalidArgument("", "a frame is no message"));
    }
    const Result<std::size_t> size = co_await stream_->Read(buffer_);
    if (!size || *size == 0) {
      End();
      co_return std::unexpected(Unavailable("the connection is over"));
    }
    reader_.Feed({buffer_.data(), *size});
  }
}

void ControlStream::End() {
  over_ = true;
  has_queued_.Set();
}

asio::awaitable<bool> ControlStream::Flush(std::chrono::milliseconds wait_max) {
  const bool sent = co_await sent_all_.WaitFor(wait_max);
  co_return sent && !over_;
}

}  // namespace trainyard::agent
