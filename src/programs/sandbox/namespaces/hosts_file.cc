#include "programs/sandbox/namespaces/hosts_file.h"

namespace trainyard::replica {

std::string HostsFile(std::string_view machine, const v1::Cluster& cluster, const v1::GoogleFront& front) {
  std::string text;
  if (!front.address().empty()) {
    text = "# the buckets of this installation, under Google's names\n";
    // One line for each name: some programs read only a line's first name, and the length of lines is
    // limited.
    for (const std::string& name : front.host_names()) {
      text.append(front.address()).append("\t").append(name).append("\n");
    }
    text += "\n";
  }
  text += machine;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (cluster.endpoints().empty()) return text;
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
