#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/result.h"
#include "net/mux/session.h"
#include "programs/attempt/frame.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// The frames of one connection in both directions. Frames to send are queued until the stream takes them;
/// the server's requests bound the length of the queue. Loop thread only.
class ControlStream {
 public:
  ControlStream(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// Queues the frame; drops it if the stream has ended.
  void Send(const v1::FromAgent& frame);
  /// Sends queued frames until the stream ends. Run it once, concurrently with Next.
  boost::asio::awaitable<void> SendAll();
  /// Returns the next frame. kUnavailable: the stream has ended; kInvalidArgument: the received data is no
  /// frame.
  boost::asio::awaitable<Result<v1::ToAgent>> Next();
  /// Returns true once all queued frames are sent; false after `wait_max`, or when the stream ends.
  boost::asio::awaitable<bool> Flush(std::chrono::milliseconds wait_max);
  /// Call it when the connection has ended: SendAll returns.
  void End();
  /// Tells the peer that nothing more follows. Call it after the queue was sent.
  void CloseWrite() { stream_->CloseWrite(); }

 private:
  std::shared_ptr<mux::Stream> stream_;
  replica::FrameReader reader_;
  std::vector<char> buffer_;
  std::string queued_;
  bool over_ = false;
  Event has_queued_;
  Event sent_all_;
};

}  // namespace trainyard::agent
