#include "programs/sandbox/namespaces/hosts_file.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

v1::Cluster TwoReplicas() {
  v1::Cluster cluster;
  for (const char* name : {"master-0", "worker-0"}) {
    v1::Endpoint& endpoint = *cluster.add_endpoints();
    endpoint.set_host_name(name);
    endpoint.set_address("127.1.2." + std::to_string(cluster.endpoints_size()));
  }
  return cluster;
}

TEST(HostsFile, KeepsTheMachinesAndAddsTheReplicas) {
  EXPECT_EQ(HostsFile("127.0.0.1 localhost", TwoReplicas(), {}),
            "127.0.0.1 localhost\n\n# the replicas of this job\n127.1.2.1\tmaster-0\n127.1.2.2\tworker-0\n");
}

TEST(HostsFile, LeavesOutWhatHasNoAddress) {
  v1::Cluster cluster = TwoReplicas();
  cluster.mutable_endpoints(0)->clear_address();
  EXPECT_EQ(HostsFile("", cluster, {}), "\n# the replicas of this job\n127.1.2.2\tworker-0\n");
}

TEST(HostsFile, PutsTheFrontsNamesFirst) {
  v1::GoogleFront front;
  front.add_host_names("storage.googleapis.com");
  front.add_host_names("www.googleapis.com");
  EXPECT_EQ(HostsFile("1.2.3.4 storage.googleapis.com\n", {}, front), "1.2.3.4 storage.googleapis.com\n");
  front.set_address("127.64.1.2");
  EXPECT_EQ(HostsFile("1.2.3.4 storage.googleapis.com\n", {}, front),
            "# the buckets of this installation, under Google's names\n"
            "127.64.1.2\tstorage.googleapis.com\n127.64.1.2\twww.googleapis.com\n\n"
            "1.2.3.4 storage.googleapis.com\n");
}

TEST(WithoutHostNames, LeavesAddresses) {
  const v1::Cluster cluster = WithoutHostNames(TwoReplicas());
  EXPECT_EQ(cluster.endpoints(1).host_name(), "");
  EXPECT_EQ(cluster.endpoints(1).address(), "127.1.2.2");
}

}  // namespace
}  // namespace trainyard::replica
