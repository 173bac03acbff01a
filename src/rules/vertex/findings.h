#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace trainyard::vertex {

/// Everything that is wrong with a request. Pure: any thread.
class Findings {
 public:
  /// @param field  a proto path: "job_spec.worker_pool_specs[0].replica_count"
  void Add(std::string field, std::string message) {
    found_.push_back({.field = std::move(field), .description = std::move(message)});
  }
  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  /// kInvalidArgument: "List of found errors:\t1.Field: F; Message: M\t", in the order of Add. Source: spec
  /// vertex.md section 3.
  [[nodiscard]] Error ToError() &&;

 private:
  std::vector<FieldViolation> found_;
};

}  // namespace trainyard::vertex
