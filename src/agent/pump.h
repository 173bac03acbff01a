#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "async/unique_fd.h"
#include "mux/session.h"

namespace trainyard::agent {

/// Copies bytes both ways between a descriptor that polls (a connected socket, a terminal) and a stream,
/// until both directions have ended. One direction's end is passed on and leaves the other open; an error
/// ends both. A descriptor that is no socket ends as a whole. `descriptor` does not block.
boost::asio::awaitable<void> Pump(boost::asio::any_io_executor loop, UniqueFd descriptor,
                                  std::shared_ptr<mux::Stream> stream);

}  // namespace trainyard::agent
