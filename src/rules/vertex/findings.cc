#include "rules/vertex/findings.h"

namespace trainyard::vertex {

Error Findings::ToError() && {
  std::string message = "List of found errors:\t";
  for (std::size_t i = 0; i < found_.size(); ++i)
    message +=
        std::to_string(i + 1) + ".Field: " + found_[i].field + "; Message: " + found_[i].description + "\t";
  return {.code = Code::kInvalidArgument,
          .message = std::move(message),
          .field = {},
          .violations = std::move(found_)};
}

}  // namespace trainyard::vertex
