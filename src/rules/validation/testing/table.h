#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rules/validation/validate.h"

/// Shared by the tests of rules: a table of jobs and the results of Validate, in parts, each next to the
/// rules that it tests.
namespace trainyard::jobs {

/// Jobs that are valid as they are; rows add to them.
inline constexpr char kPackage[] =
    "region: 'us-central1' package_uris: 'gs://bucket/trainer-0.0.0.tar.gz' python_module: 'trainer.task' ";
inline constexpr char kContainer[] = "region: 'us-central1' master_config { image_uri: 'gcr.io/p/i' } ";
inline constexpr char kCustom[] =
    "region: 'us-central1' package_uris: 'gs://bucket/t.tar.gz' python_module: 't' scale_tier: CUSTOM "
    "master_type: 'n1-standard-4' ";

/// An installation with all features.
[[nodiscard]] ValidationContext Everything();

[[nodiscard]] ml::v1::Job Make(const std::string& base, const std::string& input);

/// "" if valid, else "field: message".
[[nodiscard]] std::string Verdict(const ml::v1::Job& job, const ValidationContext& context);

struct Row {
  const char* name;
  const char* base;
  const char* input;
  const char* verdict;  ///< its beginning; "" if valid
};
class Table : public testing::TestWithParam<Row> {};

[[nodiscard]] std::string RowName(const testing::TestParamInfo<Row>& row);

}  // namespace trainyard::jobs
