#include "net/front/google_names.h"

#include <algorithm>

#include "base/ascii.h"
#include "rules/cluster/region.h"

namespace trainyard::front {

std::vector<std::string> VertexHosts() {
  std::vector<std::string> hosts = {"aiplatform.googleapis.com", "aiplatform.us.rep.googleapis.com",
                                    "aiplatform.eu.rep.googleapis.com"};
  for (const std::string_view region : cluster::VertexRegions())
    hosts.push_back(std::string(region) + "-aiplatform.googleapis.com");
  return hosts;
}

bool IsVertexHost(std::string_view host) {
  static const std::vector<std::string> kHosts = VertexHosts();
  return std::ranges::any_of(kHosts,
                             [host](std::string_view name) { return EqualsIgnoringCase(host, name); });
}

}  // namespace trainyard::front
