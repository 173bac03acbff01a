#include "base/wire/error_body.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <utility>

#include "base/wire/json_tree.h"
#include "base/wire/utf8.h"

namespace trainyard::wire {
namespace {

namespace json = boost::json;

constexpr std::size_t kForeignMessageBytesMax = 4096;
constexpr std::string_view kBadRequest = "type.googleapis.com/google.rpc.BadRequest";
constexpr std::string_view kErrorInfo = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr std::string_view kQuotaFailure = "type.googleapis.com/google.rpc.QuotaFailure";

struct Row {
  Code code;
  int http;
  std::string_view storage_reason;
};

// In the order in which an HTTP status is read back: the first row of a status wins.
constexpr std::array kTable{
    Row{Code::kInvalidArgument, 400, "invalid"},
    Row{Code::kUnauthenticated, 401, "authError"},
    Row{Code::kPermissionDenied, 403, "forbidden"},
    Row{Code::kNotFound, 404, "notFound"},
    Row{Code::kUnimplemented, 405, "methodNotAllowed"},
    Row{Code::kAlreadyExists, 409, "conflict"},
    Row{Code::kAborted, 409, "conflict"},
    Row{Code::kOutOfRange, 413, "uploadTooLarge"},
    Row{Code::kResourceExhausted, 429, "insufficientStorage"},
    Row{Code::kCancelled, 499, "backendError"},
    Row{Code::kInternal, 500, "backendError"},
    Row{Code::kUnknown, 500, "backendError"},
    Row{Code::kDataLoss, 500, "backendError"},
    Row{Code::kUnavailable, 503, "backendError"},
    Row{Code::kDeadlineExceeded, 504, "backendError"},
    Row{Code::kFailedPrecondition, 400, "conditionNotMet"},
};
static_assert(kTable.size() == 16, "a row for every Code");

const Row& RowOf(Code code) noexcept { return *std::ranges::find(kTable, code, &Row::code); }

Code CodeOfStatus(int http_status) noexcept {
  if (http_status == 412) return Code::kFailedPrecondition;
  const auto* row = std::ranges::find(kTable, http_status, &Row::http);
  if (row != kTable.end()) return row->code;
  if (http_status >= 500) return Code::kUnavailable;
  return http_status >= 400 ? Code::kInvalidArgument : Code::kUnknown;
}

json::object Violation(std::string_view field, std::string_view description) {
  json::object violation;
  if (!field.empty()) violation["field"] = ReplaceMalformed(field);
  violation["description"] = ReplaceMalformed(description);
  return violation;
}

json::object BadRequest(const Error& error) {
  json::array violations;
  for (const auto& violation : error.violations)
    violations.push_back(Violation(violation.field, violation.description));
  if (violations.empty()) violations.push_back(Violation(error.field, error.message));
  return {{"@type", kBadRequest}, {"fieldViolations", std::move(violations)}};
}

/// A quota's violations have a subject instead of a field.
json::object QuotaFailure(const Error& error) {
  json::array violations;
  for (const auto& violation : error.violations) {
    violations.push_back(json::object{{"subject", ReplaceMalformed(violation.field)},
                                      {"description", ReplaceMalformed(violation.description)}});
  }
  return {{"@type", kQuotaFailure}, {"violations", std::move(violations)}};
}

json::object PrintInfo(const ErrorInfo& info) {
  json::object metadata;
  for (const auto& [key, value] : info.metadata) metadata[key] = ReplaceMalformed(value);
  return {{"@type", kErrorInfo},
          {"reason", info.reason},
          {"domain", info.domain},
          {"metadata", std::move(metadata)}};
}

/// Empty: the message is complete.
json::array Details(const Error& error) {
  json::array details;
  const bool is_quota = error.code == Code::kResourceExhausted && !error.violations.empty();
  if (is_quota) {
    details.push_back(QuotaFailure(error));
  } else if (!error.field.empty() || !error.violations.empty()) {
    details.push_back(BadRequest(error));
  }
  if (error.info) details.push_back(PrintInfo(*error.info));
  return details;
}

json::object StatusObject(const Error& error, std::optional<int> http_status) {
  json::object status{{"code", http_status.value_or(HttpStatus(error.code))},
                      {"message", ReplaceMalformed(FullMessage(error))},
                      {"status", CodeName(error.code)}};
  if (json::array details = Details(error); !details.empty()) status["details"] = std::move(details);
  return status;
}

/// Reasons in the old format of errors; the others are the same as storage's.
std::string_view ReasonOf(Code code) noexcept {
  switch (code) {
    case Code::kInvalidArgument: return "badRequest";
    case Code::kFailedPrecondition: return "failedPrecondition";
    case Code::kResourceExhausted: return "rateLimitExceeded";
    default: return RowOf(code).storage_reason;
  }
}

/// The reason differs if no credential was sent: then the login has not failed. Source: Cloud Storage, "HTTP
/// status and error codes for JSON", 401.
std::string_view StorageReasonOf(const Error& error) noexcept {
  const bool shown_nothing = error.info && error.info->reason == "CREDENTIALS_MISSING";
  return shown_nothing ? "required" : RowOf(error.code).storage_reason;
}

/// Text at a key; empty if there is none or it is not text.
std::string TextAt(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

/// The details of one type.
std::vector<const json::object*> DetailsOf(const json::object& body, std::string_view type) {
  std::vector<const json::object*> found;
  const auto* details = body.if_contains("details");
  if (details == nullptr || !details->is_array()) return found;
  for (const auto& detail : details->get_array()) {
    const auto* object = detail.if_object();
    if (object != nullptr && TextAt(*object, "@type") == type) found.push_back(object);
  }
  return found;
}

std::optional<ErrorInfo> InfoOf(const json::object& body) {
  const auto details = DetailsOf(body, kErrorInfo);
  if (details.empty()) return std::nullopt;
  const json::object& detail = *details.front();
  ErrorInfo info{.reason = TextAt(detail, "reason"), .domain = TextAt(detail, "domain")};
  const auto* metadata = detail.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return info;
  for (const auto& [key, value] : metadata->get_object())
    info.metadata.emplace_back(key, TextAt(metadata->get_object(), key));
  return info;
}

std::vector<FieldViolation> ViolationsOf(const json::object& body) {
  std::vector<FieldViolation> violations;
  for (const json::object* detail : DetailsOf(body, kBadRequest)) {
    const auto* list = detail->if_contains("fieldViolations");
    if (list == nullptr || !list->is_array()) continue;
    for (const auto& violation : list->get_array()) {
      if (!violation.is_object()) continue;
      violations.push_back(
          {TextAt(violation.get_object(), "field"), TextAt(violation.get_object(), "description")});
    }
  }
  return violations;
}

Error Foreign(int http_status, std::string_view body) {
  return Error{.code = CodeOfStatus(http_status),
               .message = body.empty() ? "HTTP status " + std::to_string(http_status)
                                       : std::string(body.substr(0, kForeignMessageBytesMax)),
               .field = {}};
}

}  // namespace

int HttpStatus(Code code) noexcept { return RowOf(code).http; }

int StorageHttpStatus(Code code) noexcept {
  if (code == Code::kFailedPrecondition) return 412;
  return code == Code::kResourceExhausted ? 507 : RowOf(code).http;
}

std::string FullMessage(const Error& error) {
  return error.field.empty() ? error.message : "Field: " + error.field + " Error: " + error.message;
}

std::string PrintErrorBody(const Error& error, std::optional<int> http_status) {
  return IndentJson(json::serialize(json::object{{"error", StatusObject(error, http_status)}}));
}

std::string PrintFirstErrorBody(const Error& error) {
  json::object status = StatusObject(error, std::nullopt);
  json::object reason{{"message", status["message"]}, {"domain", "global"}, {"reason", ReasonOf(error.code)}};
  status["errors"] = json::array{std::move(reason)};
  return IndentJson(json::serialize(json::object{{"error", std::move(status)}}));
}

std::string PrintStorageErrorBody(const Error& error) {
  const std::string message = ReplaceMalformed(error.message);
  json::object reason{{"message", message}, {"domain", "global"}, {"reason", StorageReasonOf(error)}};
  if (error.code == Code::kUnauthenticated) {
    reason["locationType"] = "header";
    reason["location"] = "Authorization";
  }
  json::object body{{"code", StorageHttpStatus(error.code)}, {"message", message}};
  body["errors"] = json::array{std::move(reason)};
  return IndentJson(json::serialize(json::object{{"error", std::move(body)}}));
}

Error ParseErrorBody(int http_status, std::string_view body) {
  boost::system::error_code failure;
  const json::value document = json::parse(body, failure);
  const auto* root = failure ? nullptr : document.if_object();
  const auto* inner = root != nullptr ? root->if_contains("error") : nullptr;
  if (inner == nullptr || !inner->is_object()) return Foreign(http_status, body);
  const json::object& status = inner->get_object();

  Error error{.code = CodeOfStatus(http_status), .message = TextAt(status, "message"), .field = {}};
  const std::string name = TextAt(status, "status");
  const auto* row = std::ranges::find(kTable, name, [](const Row& r) { return CodeName(r.code); });
  if (row != kTable.end()) error.code = row->code;
  error.violations = ViolationsOf(status);
  error.info = InfoOf(status);
  // One violation that the message repeats as "Field: F Error: D" is what PrintErrorBody makes of field and
  // message.
  if (error.violations.size() == 1) {
    Error single{.code = error.code,
                 .message = error.violations[0].description,
                 .field = error.violations[0].field,
                 .violations = {},
                 .info = error.info};
    if (!single.field.empty() && FullMessage(single) == error.message) return single;
  }
  return error;
}

}  // namespace trainyard::wire
