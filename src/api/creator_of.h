#pragma once

#include "control/intake/creator.h"
#include "net/http/message.h"

namespace trainyard::api {

/// Who asks for a job, and what they may use for it. Loop thread.
[[nodiscard]] control::Creator CreatorOf(const http::Request& request);

}  // namespace trainyard::api
