#pragma once

#include "base/result.h"
#include "server/options/serve_options.h"

namespace trainyard::server {

/// What must hold between options, and what this version does not do. An error's field is the flag to blame.
/// Pure: any thread.
[[nodiscard]] Status CheckOptionRules(const ServeOptions& options);

}  // namespace trainyard::server
