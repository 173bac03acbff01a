#pragma once

#include <boost/asio/awaitable.hpp>

#include "net/http/channel.h"
#include "net/http/message.h"
#include "net/http/response_writer.h"

namespace trainyard::http {

/// Writes the parts of a stream, as they are made, until an empty one ends it; the head has been written.
/// While a part is being made the connection is watched: when the client goes away, or the connection is
/// closed, the call of `next` is cancelled (it unwinds with asio's operation_aborted) and kUnavailable
/// returned. What a client sends meanwhile stays buffered.
/// @return false: the connection needs to be closed afterwards, to show the stream's end or failure.
asio::awaitable<Result<bool>> WriteParts(Channel& channel, StreamBody stream, ResponseContext context);

}  // namespace trainyard::http
