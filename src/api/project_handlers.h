#pragma once

#include "api/ml_methods.h"

namespace trainyard::api {

/// projects.getConfig, projects.locations (list, get) and the operations of both (none: no training method
/// makes one).
void AddProjectRoutes(MlMethods& methods);

}  // namespace trainyard::api
