#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "base/async/unique_fd.h"
#include "net/mux/session.h"

namespace trainyard::mux {

/// Copies bytes both ways between a stream and a descriptor that polls (a connected socket, a terminal),
/// until both directions have ended. One direction's end is passed on and leaves the other open; an error
/// ends both. A descriptor that is no socket ends as a whole. `descriptor` does not block.
asio::awaitable<void> Pump(std::shared_ptr<Stream> stream, UniqueFd descriptor);

}  // namespace trainyard::mux
