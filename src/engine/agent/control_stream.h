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

/// The frames of one connection, both ways. What is sent waits here until the stream takes it: answers are
/// bounded by the server's requests. Loop thread only.
class ControlStream {
 public:
  ControlStream(boost::asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream);

  /// Puts the frame in line. Nothing happens to it once the stream is over.
  void Send(const v1::FromAgent& frame);
  /// Sends what is in line until the stream is over. Run it once, beside Next.
  boost::asio::awaitable<void> SendAll();
  /// The next frame. kUnavailable: the stream is over; kInvalidArgument: what came is no frame.
  boost::asio::awaitable<Result<v1::ToAgent>> Next();
  /// Returns once all that was in line is on its way; false after `wait_max`, or when the stream is over.
  boost::asio::awaitable<bool> Flush(std::chrono::milliseconds wait_max);
  /// The connection is over: SendAll returns.
  void End();
  /// Says that nothing more is sent, after what is in line was.
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
