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

/// Why `value` is not a message of this type, in document order; empty if it is one. See
/// ParseJson. Pure: any thread.
[[nodiscard]] std::vector<FieldViolation> ShapeViolations(const JsonValue& value,
                                                          const google::protobuf::Descriptor& type,
                                                          std::string_view root);

}  // namespace trainyard::wire
