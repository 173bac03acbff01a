#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "net/http/message.h"
#include "replica/shell/terminal.h"

namespace trainyard::shell {

/// A WebSocket on a terminal, until either ends. Binary messages are bytes of the terminal, both ways; a text
/// message "ROWS COLUMNS" from the client is its window's size. When the shell ends the server closes with
/// code 1000 and the reason "exit N", if that is known here. A client that goes away ends the shell. Loop
/// thread only.
boost::asio::awaitable<void> RunSession(Terminal terminal, std::shared_ptr<http::ByteStream> stream);

}  // namespace trainyard::shell
