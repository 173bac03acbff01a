#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>

#include "http/message.h"

namespace trainyard::access {

/// Whether who asked may still have what streams.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

/// Makes a stream or an upgraded connection end once `still_may` says no: a stream before its next part (a
/// silent tail has one every 15 s), an upgraded connection within kStreamRecheck. Other answers stay as they
/// are. Loop thread.
void KeepOnlyWhile(StillMay still_may, http::Response& response);
inline constexpr std::chrono::seconds kStreamRecheck{2};

}  // namespace trainyard::access
