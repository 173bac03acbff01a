#pragma once

#include "api/logging_handlers.h"

namespace trainyard::api {

/// The routes of entries:tail; see AddLoggingRoutes.
void AddTailRoutes(http::Router& router, logs::LogTails& tails, TailTimes times);

}  // namespace trainyard::api
