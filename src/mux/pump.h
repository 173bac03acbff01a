#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "async/unique_fd.h"
#include "mux/session.h"

namespace trainyard::mux {

/// Carries bytes both ways between a stream and a connected stream socket of this machine (not blocking),
/// until both directions have ended or one side is gone. A direction that one side closes is closed at the
/// other.
asio::awaitable<void> Pump(std::shared_ptr<Stream> stream, UniqueFd socket);

}  // namespace trainyard::mux
