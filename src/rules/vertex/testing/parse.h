#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/wire/json.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

namespace trainyard::vertex::testing {

/// A custom job as clients send it. A mistake in the text is a failure of the test.
inline google::cloud::aiplatform::v1::CustomJob ParseCustomJob(std::string_view json) {
  google::cloud::aiplatform::v1::CustomJob job;
  const Status read = wire::ParseJson(json, job);
  EXPECT_TRUE(read.has_value()) << (read ? std::string{} : read.error().message);
  return job;
}

/// One with these worker pools, a JSON list.
inline google::cloud::aiplatform::v1::CustomJob WithPools(std::string_view pools) {
  return ParseCustomJob(
      std::string(R"({"displayName": "d", "jobSpec": {"workerPoolSpecs": )").append(pools).append("}}"));
}

}  // namespace trainyard::vertex::testing
