#include "api/vertex/vertex_tables.h"

#include <vector>

namespace trainyard::api {

std::span<const Route> VertexRoutes() {
  static const auto* const kRoutes = [] {
    auto* all = new std::vector<Route>();
    for (const auto rows : {VertexJobRoutes(), VertexModelRoutes(), VertexStudyRoutes()})
      all->insert(all->end(), rows.begin(), rows.end());
    return all;
  }();
  return *kRoutes;
}

}  // namespace trainyard::api
