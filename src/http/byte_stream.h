#pragma once

#include <memory>

#include "http/channel.h"
#include "http/message.h"

namespace trainyard::http {

/// The channel as an upgraded connection: bytes that followed the request's head are read first. Reads
/// have no deadline (the protocol above has its own heartbeat), writes do.
[[nodiscard]] std::shared_ptr<ByteStream> MakeByteStream(std::shared_ptr<Channel> channel,
                                                         Duration write_wait_max);

}  // namespace trainyard::http
