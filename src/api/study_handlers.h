#pragma once

#include "api/ml_methods.h"
#include "studies/study_service.h"

namespace trainyard::api {

/// projects.locations.studies, .trials and projects.locations.operations. A location is a region that
/// training runs in; any other is kNotFound. `studies` outlives the router.
void AddStudyRoutes(MlMethods& methods, studies::StudyService& studies);

}  // namespace trainyard::api
