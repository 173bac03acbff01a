#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "net/grpc/call.h"
#include "net/http/channel.h"

namespace trainyard::grpc {

/// The handler, and the limits of one connection.
struct GrpcOptions {
  Handler handler;
  std::size_t message_bytes_max = std::size_t{4} << 20;  ///< of a request, also decompressed; then code 8
  /// Requests of the connection that are held in memory, together; then code 8.
  std::size_t held_bytes_max = std::size_t{16} << 20;
  /// The same of all connections with these options; then code 8.
  std::size_t held_together_max = std::size_t{64} << 20;
  std::shared_ptr<std::size_t> held_together = std::make_shared<std::size_t>(0);  ///< the present number
  std::size_t header_bytes_max = std::size_t{16} << 10;  ///< of a request (CallHead); then code 8
  /// Calls at once, also those that nobody waits for any more and whose handler has not ended; then
  /// REFUSED_STREAM, which clients repeat.
  std::uint32_t streams_max = 100;
  /// Streams that ended in an error, beyond those that were answered; then the connection is ended. It is the
  /// limit of attacks that open and reset streams.
  std::size_t failed_streams_max = 100;
  std::chrono::milliseconds start_wait_max{20'000};    ///< for the client's first SETTINGS
  std::chrono::milliseconds message_wait_max{60'000};  ///< from a call's head to the end of its message
  std::chrono::milliseconds answer_wait_max{60'000};   ///< for the client to take the whole answer
  std::chrono::milliseconds write_wait_max{60'000};    ///< between two bytes that the connection accepts
  std::chrono::milliseconds idle_wait_max{600'000};    ///< without calls and without any byte received
  std::chrono::milliseconds ping_pause{30'000};   ///< between pings while a call waits and nothing arrives
  std::chrono::milliseconds silence_max{90'000};  ///< without any byte received during a call
};

/// Serves one HTTP/2 connection, from the client's preface on, until it ends: unary calls of gRPC; other
/// requests get 415 or 405. When the server stops (http::Channel::Signals), calls in flight are still
/// answered. Returns when all handlers have ended. Never fails: a malformed connection is closed. `options`
/// outlives it. Loop thread.
boost::asio::awaitable<void> Serve(std::shared_ptr<http::Channel> channel, const GrpcOptions& options);

}  // namespace trainyard::grpc
