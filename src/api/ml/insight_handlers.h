#pragma once

#include "control/job_service.h"
#include "net/http/router.h"
#include "stores/studies/study_service.h"

namespace trainyard::api {

/// GET /trainyard/v1/projects/P/jobs/J/tuning:explain and .../locations/L/studies/S/tuning:explain: the
/// extension resource TuningInsight (control/v1/tuning_insight.proto). Both outlive the router.
void AddInsightRoutes(http::Router& router, control::JobService& jobs, studies::StudyService& studies);

}  // namespace trainyard::api
