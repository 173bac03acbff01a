#pragma once

#include "http/router.h"
#include "logs/log_store.h"

namespace trainyard::api {

/// entries of logging v2: `POST /v2/entries:list`. `logs` outlives the router.
/// Source: docs/spec "Logs"; discovery document logging:v2.
void AddLoggingRoutes(http::Router& router, logs::LogStore& logs);

}  // namespace trainyard::api
