#include "net/front/host_dispatch.h"

#include <gtest/gtest.h>

namespace trainyard::front {
namespace {

TEST(ServiceOf, KnowsTheHosts) {
  EXPECT_EQ(ServiceOf("storage.googleapis.com"), Service::kStorage);
  EXPECT_EQ(ServiceOf("Storage.GoogleAPIs.com:443"), Service::kStorage);
  EXPECT_EQ(ServiceOf("www.googleapis.com"), Service::kApi);
  EXPECT_EQ(ServiceOf("ml.googleapis.com"), Service::kApi);
  EXPECT_EQ(ServiceOf("us-central1-ml.googleapis.com"), Service::kApi);
  EXPECT_EQ(ServiceOf("logging.googleapis.com:443"), Service::kApi);
  EXPECT_EQ(ServiceOf("tpu.googleapis.com"), Service::kApi);
  EXPECT_EQ(ServiceOf("iam.googleapis.com"), Service::kApi);
  EXPECT_EQ(ServiceOf("ServiceUsage.googleapis.com:443"), Service::kApi);
  for (const char* host :
       {"metadata.google.internal", "metadata", "oauth2.googleapis.com", "127.64.1.2:80", "",
        "bucket.storage.googleapis.com", "1-master-replica-0-1.ab.metadata.trainyard"}) {
    EXPECT_EQ(ServiceOf(host), Service::kMetadata) << host;
  }
}

}  // namespace
}  // namespace trainyard::front
