#pragma once

#include <functional>

#include "access/forwarded_rules.h"
#include "http/message.h"

namespace trainyard::access {

/// For http::ServerOptions::look_behind_proxy: what X-Forwarded-For and X-Forwarded-Proto of trusted proxies
/// say. X-Forwarded-Host is not taken: such a proxy passes the Host on. Null where none is trusted.
[[nodiscard]] std::function<void(http::Request& request)> LookBehind(TrustedProxies trusted);

}  // namespace trainyard::access
