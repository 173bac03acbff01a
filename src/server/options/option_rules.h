#pragma once

#include "base/result.h"
#include "server/options/serve_options.h"

namespace trainyard::server {

/// Checks that the options fit together and that this version supports them. An error's field is the wrong
/// flag. Pure: any thread.
[[nodiscard]] Status CheckOptionRules(const ServeOptions& options);

}  // namespace trainyard::server
