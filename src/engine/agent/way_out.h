#pragma once

#include <string_view>

namespace trainyard::agent {

/// Whether the node has a default route. Pure: any thread. `ipv4`: /proc/net/route; `ipv6`:
/// /proc/net/ipv6_route. Source: proc(5); the kernel's fib_trie.c, ip6_fib.c.
[[nodiscard]] bool HasWayOut(std::string_view ipv4, std::string_view ipv6);

}  // namespace trainyard::agent
