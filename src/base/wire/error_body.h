#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

/// Errors on the wire. Pure: any thread. Source: docs/spec "Errors" of the ml API (google.rpc.Status),
/// storage v1's own shape.
namespace trainyard::wire {

/// The HTTP status of a Code. This is Google's mapping, except for two codes that only the HTTP layer
/// produces: kOutOfRange is a body beyond its limit (413) and kUnimplemented a method that the path does not
/// have (405; 501 would be retried by clients).
[[nodiscard]] int HttpStatus(Code code) noexcept;

/// HttpStatus for storage v1, where an unmet precondition is 412 and a full disk 507 (clients would retry a
/// 429 for minutes).
[[nodiscard]] int StorageHttpStatus(Code code) noexcept;

/// The message as the API shows it: "Field: runtime_version Error: ..." with a field, else error.message.
[[nodiscard]] std::string FullMessage(const Error& error);

/// google.rpc.Status as JSON: {"error": {"code", "message", "status", "details": [BadRequest, ErrorInfo]}},
/// indented, newline at the end. Details are present if there is a field, a violation or an info; violations
/// of kResourceExhausted are a QuotaFailure whose subjects are their fields. `http_status`: if it differs
/// from the code's.
[[nodiscard]] std::string PrintErrorBody(const Error& error, std::optional<int> http_status = std::nullopt);

/// PrintErrorBody in the old format of errors ($.xgafv=1), with "errors": [{"message", "domain", "reason"}]
/// in addition to the message.
[[nodiscard]] std::string PrintFirstErrorBody(const Error& error);

/// storage v1: {"error": {"code": 404, "message": "...", "errors": [{"domain": "global", "reason":
/// "notFound", "message": "..."}]}}. For kUnauthenticated the entry says where a credential goes, and the
/// reason is "required" if none was sent (ErrorInfo CREDENTIALS_MISSING), else "authError".
[[nodiscard]] std::string PrintStorageErrorBody(const Error& error);

/// Reads a server's error: either shape above, or any other text (such as a proxy's page), which becomes the
/// message, cut to a limit. The code comes from `error.status` or else from the HTTP status. Inverse of
/// PrintErrorBody.
[[nodiscard]] Error ParseErrorBody(int http_status, std::string_view body);

}  // namespace trainyard::wire
