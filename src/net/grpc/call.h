#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "net/http/headers.h"
#include "net/http/peer.h"

namespace trainyard::grpc {

/// One unary call, complete. It lives until its handler has returned.
struct UnaryCall {
  std::string path;        ///< "/package.Service/Method"
  http::Headers metadata;  ///< the request's fields as sent, names in lower case; `-bin` values are encoded
  std::string message;     ///< the serialized request message
  std::string authority;   ///< the host, with the port if the client sent one; empty: none was sent
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< nullopt: the client waits for ever
  http::Peer* peer = nullptr;  ///< of the connection; lives as long as the call; never null
};

/// The answer to a call.
struct Reply {
  int status = 0;       ///< google.rpc.Code; 0: OK
  std::string text;     ///< why it failed; UTF-8; a long text is cut (kStatusFieldBytesMax)
  std::string details;  ///< a serialized google.rpc.Status, or empty; left out if it is too long
  std::string message;  ///< the serialized answer; sent only if status is 0
};

/// Answers calls; several of one connection run at once. It runs to its end also if the deadline passes, the
/// client gives up or the connection ends: its reply is dropped then, and nothing that it does is half done.
/// It is cancelled (operation_aborted at its current wait) only when the server ends. An exception that
/// leaves it is answered as INTERNAL. Loop thread.
using Handler = std::function<boost::asio::awaitable<Reply>(UnaryCall& call)>;

}  // namespace trainyard::grpc
