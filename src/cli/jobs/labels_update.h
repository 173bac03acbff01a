#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::cli {

using Labels = std::map<std::string, std::string>;

/// What `jobs update` asks for.
struct LabelsUpdate {
  bool clear = false;
  Labels set;
  std::vector<std::string> remove;
};

/// The labels afterwards: cleared, then set, then removed; nothing if they stay as they are. Pure: any
/// thread.
[[nodiscard]] std::optional<Labels> ApplyLabels(const Labels& labels, const LabelsUpdate& update);

}  // namespace trainyard::cli
