#pragma once

#include "control/curves/job_curves.h"
#include "net/http/router.h"

namespace trainyard::api {

/// What jobs' programs measured of themselves (control/v1/curves.proto): GET .../jobs/J/scalars, summaries
/// and summaries:read?trial=&run=&tag=&step=, and POST .../projects/P/scalars:query, where a job that who
/// asks may not see is as if it were not there (docs/adr/0053). `curves` outlives the router.
void AddCurveRoutes(http::Router& router, curves::JobCurves& curves);

}  // namespace trainyard::api
