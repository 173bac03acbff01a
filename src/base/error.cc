#include "base/error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace trainyard {

std::string_view CodeName(Code code) noexcept {
  switch (code) {
    case Code::kCancelled: return "CANCELLED";
    case Code::kUnknown: return "UNKNOWN";
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kAlreadyExists: return "ALREADY_EXISTS";
    case Code::kPermissionDenied: return "PERMISSION_DENIED";
    case Code::kResourceExhausted: return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition: return "FAILED_PRECONDITION";
    case Code::kAborted: return "ABORTED";
    case Code::kOutOfRange: return "OUT_OF_RANGE";
    case Code::kUnimplemented: return "UNIMPLEMENTED";
    case Code::kInternal: return "INTERNAL";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kDataLoss: return "DATA_LOSS";
    case Code::kUnauthenticated: return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Error InvalidArgument(std::string_view field, std::string message) {
  return {Code::kInvalidArgument, std::move(message), std::string(field)};
}
Error NotFound(std::string message) { return {Code::kNotFound, std::move(message), {}}; }
Error FailedPrecondition(std::string message, std::string_view field) {
  return {Code::kFailedPrecondition, std::move(message), std::string(field)};
}
Error Unavailable(std::string message) { return {Code::kUnavailable, std::move(message), {}}; }
Error Internal(std::string message) { return {Code::kInternal, std::move(message), {}}; }
Error Aborted(std::string message) { return {Code::kAborted, std::move(message), {}}; }
Error AlreadyExists(std::string message, std::string_view field) {
  return {Code::kAlreadyExists, std::move(message), std::string(field)};
}
Error DataLoss(std::string message) { return {Code::kDataLoss, std::move(message), {}}; }
Error PermissionDenied(std::string message) { return {Code::kPermissionDenied, std::move(message), {}}; }
Error ResourceExhausted(std::string message, std::string_view field) {
  return {Code::kResourceExhausted, std::move(message), std::string(field)};
}

Error ErrnoError(int error_number, std::string_view what) {
  std::string message = std::string(what) + ": " + std::generic_category().message(error_number);
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return {Code::kResourceExhausted, std::move(message), {}};
    case ENOENT: return {Code::kNotFound, std::move(message), {}};
    case EACCES:
    case EPERM: return {Code::kPermissionDenied, std::move(message), {}};
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return {Code::kUnavailable, std::move(message), {}};
    default: return {Code::kInternal, std::move(message), {}};
  }
}

}  // namespace trainyard
