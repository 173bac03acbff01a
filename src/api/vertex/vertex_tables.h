#pragma once

#include <span>

#include "api/route.h"

namespace trainyard::api {

/// The tables that VertexRoutes() puts together: one for each file *_routes.cc of this directory.
[[nodiscard]] std::span<const Route> VertexJobRoutes();    ///< jobs and pipelines
[[nodiscard]] std::span<const Route> VertexModelRoutes();  ///< the models of pipelines
[[nodiscard]] std::span<const Route> VertexStudyRoutes();  ///< studies, trials and operations

}  // namespace trainyard::api
