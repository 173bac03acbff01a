#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "base/async/unique_fd.h"
#include "net/mux/session.h"

namespace trainyard::mux {

/// Copies bytes both ways between a stream and a descriptor that polls (a connected socket, a terminal),
/// until both directions have ended. The end of one direction is passed on and leaves the other open; an
/// error ends both. If the descriptor is not a socket, both directions end together. `descriptor` must be
/// non-blocking.
asio::awaitable<void> Pump(std::shared_ptr<Stream> stream, UniqueFd descriptor);

}  // namespace trainyard::mux
