#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/wire/json.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

/// Requests as clients send them. A mistake in the text is a failure of the test.
namespace trainyard::vertex::testing {

template <class Message>
Message ParseRequest(std::string_view json) {
  Message message;
  const Status read = wire::ParseJson(json, message);
  EXPECT_TRUE(read.has_value()) << (read ? std::string{} : read.error().message);
  return message;
}

inline google::cloud::aiplatform::v1::HyperparameterTuningJob ParseTuningJob(std::string_view json) {
  return ParseRequest<google::cloud::aiplatform::v1::HyperparameterTuningJob>(json);
}

inline google::cloud::aiplatform::v1::TrainingPipeline ParsePipeline(std::string_view json) {
  return ParseRequest<google::cloud::aiplatform::v1::TrainingPipeline>(json);
}

}  // namespace trainyard::vertex::testing
