#pragma once

#include <cstddef>
#include <span>

#include "base/async/unique_fd.h"

/// A message with a descriptor over a Unix socket that keeps messages apart (SOCK_SEQPACKET). Blocking; any
/// thread; nothing is allocated, so that a child between fork and exec may call them. Source: unix(7),
/// cmsg(3).
namespace trainyard {

/// The whole message, with a copy of the descriptor; -1: none. False with errno: it was not sent.
bool SendWithDescriptor(int socket, std::span<const std::byte> message, int descriptor);

/// How much came of a message; 0: the other side is gone; -1 with errno. `descriptor`: what came with it,
/// closed on exec; empty: nothing did.
[[nodiscard]] std::ptrdiff_t ReceiveWithDescriptor(int socket, std::span<std::byte> message,
                                                   UniqueFd& descriptor);

}  // namespace trainyard
