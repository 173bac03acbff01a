#include "replica/hosts_file.h"

namespace trainyard::replica {

std::string HostsFile(std::string_view machine, const v1::Cluster& cluster) {
  std::string text(machine);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += "\n# the replicas of this job\n";
  for (const v1::Endpoint& endpoint : cluster.endpoints()) {
    if (endpoint.address().empty() || endpoint.host_name().empty()) continue;
    text.append(endpoint.address()).append("\t").append(endpoint.host_name()).append("\n");
  }
  return text;
}

v1::Cluster WithoutHostNames(v1::Cluster cluster) {
  for (v1::Endpoint& endpoint : *cluster.mutable_endpoints()) endpoint.clear_host_name();
  return cluster;
}

}  // namespace trainyard::replica
