#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard {

/// The error vocabulary of the whole system: google.rpc.Code without OK, with its numbers.
enum class Code {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

/// "INVALID_ARGUMENT" and so on, as google.rpc.Status prints them.
[[nodiscard]] std::string_view CodeName(Code code) noexcept;

/// One of several things wrong with a request (google.rpc.BadRequest.FieldViolation).
struct FieldViolation {
  std::string field;
  std::string description;
  friend bool operator==(const FieldViolation&, const FieldViolation&) = default;
};

/// A machine-readable reason (google.rpc.ErrorInfo): "IAM_PERMISSION_DENIED" of "iam.googleapis.com".
struct ErrorInfo {
  std::string reason;
  std::string domain;
  std::vector<std::pair<std::string, std::string>> metadata = {};  ///< in the order in which it is printed
  friend bool operator==(const ErrorInfo&, const ErrorInfo&) = default;
};

/// Why an operation failed. A value; tests compare it with ==.
struct Error {
  Code code = Code::kUnknown;
  std::string message;  ///< the reason only; whoever adds context owns that context
  std::string field;    ///< path in the request as the API prints it ("runtime_version"); empty if none
  /// Set only by the JSON mapping, which reports all mistakes at once: `message` is then complete and `field`
  /// empty.
  std::vector<FieldViolation> violations = {};
  std::optional<ErrorInfo> info = {};  ///< set if access was refused: what was missing
  friend bool operator==(const Error&, const Error&) = default;
};

[[nodiscard]] Error InvalidArgument(std::string_view field, std::string message);
[[nodiscard]] Error NotFound(std::string message);
[[nodiscard]] Error FailedPrecondition(std::string message, std::string_view field = {});
[[nodiscard]] Error Unavailable(std::string message);
[[nodiscard]] Error Internal(std::string message);
[[nodiscard]] Error Aborted(std::string message);
[[nodiscard]] Error AlreadyExists(std::string message, std::string_view field = {});
[[nodiscard]] Error DataLoss(std::string message);
[[nodiscard]] Error PermissionDenied(std::string message);
[[nodiscard]] Error ResourceExhausted(std::string message, std::string_view field = {});

/// The error for the errno of a failed system call, with code kInternal, kUnavailable or kResourceExhausted:
/// "open /a/b: No space left on device".
[[nodiscard]] Error ErrnoError(int error_number, std::string_view what);

}  // namespace trainyard
