#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace google::protobuf {
class Message;
}

/// JSON of the API's messages: protobuf's own mapping in both directions. Pure: any thread.
namespace trainyard::wire {

/// Reads a request's body into `out` (cleared first; unspecified after an error).
///
/// Accepts camelCase and snake_case names, 64-bit integers as text or number, a number where the field is
/// text (2.10 is "2.10"), null as absent, enums by known number or by
/// name, in any case and with '-' for '_' as Google's converter did. Empty text is an empty message, as
/// in Google's service. Refuses, with all violations in document order (at most kViolationsMax): unknown
/// names, values of the wrong kind or out of range, unknown enum values, a field given twice, nesting beyond
/// kJsonDepthMax, more than kJsonValuesMax values, malformed UTF-8. Linear time.
///
/// @param root  the message's path in the request, as Google's service writes paths: "job" for
///     jobs.create; empty for the whole request.
/// @return kInvalidArgument with `violations`, worded like Google's JSON transcoder: `Invalid JSON payload
///     received. Unknown name "x" at 'job': Cannot find field.`
/// Source: docs/spec "Errors", protobuf's own converter texts.
[[nodiscard]] Status ParseJson(std::string_view text, google::protobuf::Message& out,
                               std::string_view root = {});

/// Prints the message with camelCase names, without unset and zero fields, maps ordered by key, two spaces
/// per level, newline at the end. Never fails: PrintableCopy (json.cc) replaces values that the mapping
/// cannot express; bytes of a string that are not UTF-8 are left out.
[[nodiscard]] std::string PrintJson(const google::protobuf::Message& message);

/// Like PrintJson, in one line without spaces and without a newline.
[[nodiscard]] std::string PrintJsonCompact(const google::protobuf::Message& message);

/// Like PrintJsonCompact, with the proto's snake_case names: TF_CONFIG's "job".
[[nodiscard]] std::string PrintJsonProtoNames(const google::protobuf::Message& message);

}  // namespace trainyard::wire
