#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// The syntax of flag values, with gcloud's error texts (kInvalidArgument, message only). Pure: any thread.
/// Source: gcloud's arg_parsers, storage_util and labels_util; recorded in tests/golden/cli.
namespace trainyard::cli {

/// "a,b", or with another separator: "^:^a:b".
[[nodiscard]] Result<std::vector<std::string>> SplitList(std::string_view value);
/// "k=v,l=w" in order.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> SplitPairs(std::string_view value);

[[nodiscard]] Status CheckList(std::string_view value);
[[nodiscard]] Status CheckPositiveInteger(std::string_view value);
/// 0 and more, below the number of ports.
[[nodiscard]] Status CheckReplicaCount(std::string_view value);
/// GPUs of one machine, as Google's machines have them: 1, 2, 4 or 8.
[[nodiscard]] Status CheckGpuCount(std::string_view value);
/// Workers beside a master: at least 1, and with it at most cluster::kReplicasMax.
[[nodiscard]] Status CheckWorkerCount(std::string_view value);
[[nodiscard]] Status CheckBoolean(std::string_view value);
[[nodiscard]] bool IsTrue(std::string_view boolean);
[[nodiscard]] Status CheckLabels(std::string_view value);
[[nodiscard]] Status CheckServiceAccount(std::string_view value);
[[nodiscard]] Status CheckScaleTier(std::string_view value);
/// "type=nvidia-tesla-t4,count=2".
[[nodiscard]] Status CheckAccelerator(std::string_view value);

/// A whole number, and nothing after it.
[[nodiscard]] std::optional<std::int64_t> ParseNumber(std::string_view text);
/// "3600s", "30m", "8h", "90d": whole numbers above 0. Nothing: another text, or more than a century.
[[nodiscard]] std::optional<std::chrono::seconds> ParseDuration(std::string_view text);
[[nodiscard]] Status CheckAge(std::string_view text);

/// gs://bucket/object, gs://bucket/ or gs://bucket.
[[nodiscard]] Status CheckJobDir(std::string_view value);
[[nodiscard]] Status CheckStagingBucket(std::string_view value);
/// The bucket rule alone, with the link to it.
[[nodiscard]] Status CheckBucketName(std::string_view bucket);

/// The API's spelling of a choice: "basic-gpu" is BASIC_GPU.
[[nodiscard]] std::string EnumName(std::string_view choice);

}  // namespace trainyard::cli
