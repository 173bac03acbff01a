#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>

namespace trainyard::control {

/// Waits, on the caller's executor, before something that failed is tried again. Unwinds when cancelled.
boost::asio::awaitable<void> Pause(std::chrono::milliseconds duration);

}  // namespace trainyard::control
