#pragma once

#include "control/job_service.h"
#include "http/router.h"

namespace trainyard::api {

/// The replicas' shells: what trainingOutput.webAccessUris points at. A WebSocket (src/shell/session.h); a
/// plain GET is told how to open it. Query parameters: token, rows, columns.
void AddShellRoutes(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::api
