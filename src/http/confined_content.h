#pragma once

#include "http/message.h"

namespace trainyard::http {

/// Makes contents that anybody may have written harmless where a browser opens them: they run no script, are
/// what their type says, and no other site's page can take them in. Replaces fields of those names. Loop
/// thread. Source: the Fetch standard, "X-Content-Type-Options" and "Cross-Origin-Resource-Policy"; Content
/// Security Policy Level 3, "sandbox".
inline void ConfineContent(Headers& headers) {
  headers.Set("X-Content-Type-Options", "nosniff");
  headers.Set("Content-Security-Policy", "sandbox");
  headers.Set("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace trainyard::http
