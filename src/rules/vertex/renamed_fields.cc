#include "rules/vertex/renamed_fields.h"

#include <algorithm>
#include <utility>

namespace trainyard::vertex {

void AddRenamed(const Error& error, const Rename& rename, Findings& findings) {
  for (const FieldViolation& violation : error.violations)
    findings.Add(rename(violation.field), violation.description);
  if (error.violations.empty()) findings.Add(rename(error.field), error.message);
}

Error Renamed(Error error, const Rename& rename) {
  if (error.code == Code::kInvalidArgument && !error.violations.empty()) {
    Findings findings;
    AddRenamed(error, rename, findings);
    return std::move(findings).ToError();
  }
  error.field = rename(error.field);
  for (FieldViolation& violation : error.violations) violation.field = rename(violation.field);
  return error;
}

void RenameRemarks(const Rename& rename, std::vector<std::string>& remarks) {
  for (std::string& remark : remarks) {
    const std::size_t end = std::min(remark.find(' '), remark.size());
    remark = rename(std::string_view(remark).substr(0, end)) + remark.substr(end);
  }
}

}  // namespace trainyard::vertex
