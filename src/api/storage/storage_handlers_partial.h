#pragma once

#include <optional>

#include "base/result.h"
#include "base/wire/field_selector.h"
#include "net/http/message.h"

namespace trainyard::api::storage_api {

/// How a request wants its JSON answer: the part that `fields` selects, on one line with `prettyPrint=false`.
/// Names in `fields` that storage v1's resources do not have are ignored: clients ask for fields newer than
/// the discovery document. Pure: any thread. Source: discovery, the parameters of all methods.
class AnswerForm {
 public:
  /// kInvalidArgument: `fields` is malformed. Read before the method runs, so that nothing is changed then.
  [[nodiscard]] static Result<AnswerForm> Read(const http::Request& request);

  /// Leaves errors and contents of objects as they are.
  void Apply(http::Response& answer) const;

 private:
  std::optional<wire::FieldSelector> fields_;
  bool compact_ = false;
};

}  // namespace trainyard::api::storage_api
