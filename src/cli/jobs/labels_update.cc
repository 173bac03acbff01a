#include "cli/jobs/labels_update.h"

namespace trainyard::cli {

std::optional<Labels> ApplyLabels(const Labels& labels, const LabelsUpdate& update) {
  Labels updated = update.clear ? Labels{} : labels;
  for (const auto& [key, value] : update.set) updated[key] = value;
  for (const std::string& key : update.remove) updated.erase(key);
  if (updated == labels) return std::nullopt;
  return updated;
}

}  // namespace trainyard::cli
