#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

/// Reads the texts of flags that add rules for a cluster. Pure: any thread. Errors: kInvalidArgument without
/// a field.
namespace trainyard::server {

[[nodiscard]] Status Refuse(std::string why);
/// Splits "NAME=REST".
[[nodiscard]] Result<std::pair<std::string, std::string>> SplitRule(const std::string& text);
/// A whole number from 1 to `most`; nullopt: it is none.
[[nodiscard]] std::optional<std::int64_t> ReadCount(std::string_view text, std::int64_t most);
/// Parses "16G", "500M", "500", as --mem of sbatch.
[[nodiscard]] std::optional<std::int64_t> ReadMebibytes(std::string_view text);
/// Adds "LABEL=VALUE", a label of Kubernetes' nodes; one that is given twice is refused.
[[nodiscard]] Status AddLabel(const std::string& text, std::map<std::string, std::string>& labels);

}  // namespace trainyard::server
