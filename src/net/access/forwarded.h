#pragma once

#include <functional>

#include "net/access/forwarded_rules.h"
#include "net/http/message.h"

namespace trainyard::access {

/// Whether a proxy passed the request on: it comes from a trusted one, or has a field that proxies add. Then
/// the account of its connection is the proxy's and says nothing about who asks. A proxy that adds no field
/// and is not named (--trusted-proxy) cannot be told from a client.
[[nodiscard]] bool IsForwarded(const http::Request& request, const TrustedProxies& trusted);

/// For http::ServerOptions::look_behind_proxy: what X-Forwarded-For and X-Forwarded-Proto of trusted proxies
/// say. X-Forwarded-Host is not taken: such a proxy passes the Host on. Null where none is trusted.
[[nodiscard]] std::function<void(http::Request& request)> LookBehind(TrustedProxies trusted);

}  // namespace trainyard::access
