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

/// Violations reported for one body; the rest of the body is not checked.
inline constexpr std::size_t kViolationsMax = 50;

/// Whether a text may be a body with fields whose values are secrets: variables of a job, tokens. Then a
/// refusal repeats nothing of it.
[[nodiscard]] bool MayHoldSecret(std::string_view text) noexcept;

/// Why `value` is not a message of this type, in document order; empty if it is one. See
/// ParseJson. Pure: any thread.
[[nodiscard]] std::vector<FieldViolation> ShapeViolations(const JsonValue& value,
                                                          const google::protobuf::Descriptor& type,
                                                          std::string_view root);

}  // namespace trainyard::wire
