#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::wire {

struct JsonValue;

/// The limit of violations reported for one body; after it the rest of the body is not checked.
inline constexpr std::size_t kViolationsMax = 50;

/// Whether a text may be a body with secret values: variables of a job, tokens. Then error messages must not
/// quote it.
[[nodiscard]] bool MayHoldSecret(std::string_view text) noexcept;

struct Shape {
  std::vector<FieldViolation> violations;  ///< why the value is no message of the type, in document order
  bool changed = false;                    ///< a number became text, or a value of an enum its name
};

/// Compares `value` with a message type; see ParseJson. A number where the type has text becomes that text,
/// and a value of an enum its name in capitals.
/// Pure: any thread.
[[nodiscard]] Shape FitShape(JsonValue& value, const google::protobuf::Descriptor& type,
                             std::string_view root);

}  // namespace trainyard::wire
