#include "api/system_parameters.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "base/ascii.h"
#include "base/number.h"
#include "base/wire/error_body.h"
#include "base/wire/field_selector.h"
#include "base/wire/json_tree.h"
#include "base/wire/utf8.h"

namespace trainyard::api {
namespace {

constexpr std::size_t kQuotaUserMax = 40;

// Accepted and ignored: they identify the caller, or are for tracing.
constexpr std::array<std::string_view, 11> kIgnored{
    "key",        "access_token", "oauth_token", "uploadType", "userProject", "upload_protocol",
    "projection", "trace",        "pp",          "userip",     "strict"};

struct Method {
  MethodForm form;
  http::Handler handler;
};

/// The form of the answer that the client requests.
struct AnswerForm {
  bool pretty = true;
  bool first_error_form = false;  ///< $.xgafv=1: with a list of errors in addition to the message
  std::optional<wire::FieldSelector> fields;
};

std::string CamelCase(std::string_view name) {
  std::string camel;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joins = name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    camel += joins ? static_cast<char>(name[++i] - ('a' - 'A')) : name[i];
  }
  return camel;
}

bool IsOneOf(std::string_view word, std::string_view words) {
  for (const auto one : std::views::split(words, ' '))
    if (std::ranges::equal(one, word)) return true;
  return false;
}

Error UnknownParameter(const std::string& name) {
  const std::string shown = wire::ReplaceMalformed(name);
  std::string text = "Invalid JSON payload received. Unknown name \"" + shown +
                     "\": Cannot bind query parameter. Field '" + shown +
                     "' could not be found in request message.";
  Error error{.code = Code::kInvalidArgument, .message = text, .field = {}};
  error.violations.push_back({.field = {}, .description = std::move(text)});
  return error;
}

Status ReadPretty(const std::string& value, AnswerForm& form) {
  if (EqualsIgnoringCase(value, "true") || value.empty() || value == "1") return {};
  if (!EqualsIgnoringCase(value, "false") && value != "0")
    return std::unexpected(InvalidArgument("prettyPrint", "Invalid value at 'prettyPrint' (TYPE_BOOL), \"" +
                                                              wire::ReplaceMalformed(value) + "\""));
  form.pretty = false;
  return {};
}

Status ReadErrorForm(const std::string& value, AnswerForm& form) {
  if (value != "1" && value != "2" && !value.empty())
    return std::unexpected(InvalidArgument(
        "$.xgafv",
        "Invalid value at '$.xgafv': \"" + wire::ReplaceMalformed(value) + "\" is neither 1 nor 2"));
  form.first_error_form = value == "1";
  return {};
}

/// Google's generated clients ask for enums as numbers, and read their names as well, which are sent.
constexpr std::string_view kJsonWithNumbers = "json;enum-encoding=int";

Status CheckAlt(const std::string& value, const MethodForm& method) {
  if (value.empty() || EqualsIgnoringCase(value, "json") || EqualsIgnoringCase(value, kJsonWithNumbers))
    return {};
  if (method.answer == nullptr && EqualsIgnoringCase(value, "sse")) return {};
  return std::unexpected(InvalidArgument("alt", "Invalid value at 'alt': this method answers json, not \"" +
                                                    wire::ReplaceMalformed(value) + "\""));
}

Status ReadFields(const std::string& value, const MethodForm& method, AnswerForm& form) {
  if (value.empty()) return {};
  if (method.answer == nullptr)
    return std::unexpected(InvalidArgument("fields", "A stream of events does not support 'fields'"));
  TY_TRY(wire::FieldSelector selector, wire::FieldSelector::Parse(value));
  TY_RETURN_IF_ERROR(selector.Resolve(*method.answer()));
  form.fields = std::move(selector);
  return {};
}

Status CheckQuotaUser(const std::string& value) {
  if (value.size() <= kQuotaUserMax) return {};
  return std::unexpected(InvalidArgument(
      "quotaUser", "quotaUser has more than " + std::to_string(kQuotaUserMax) + " characters"));
}

/// Reads one parameter; the name of a method's own one is changed to camelCase.
Status ReadParameter(std::string& name, const std::string& value, const MethodForm& method,
                     AnswerForm& form) {
  // "$alt" is the same as "alt": Google's front ends accept both.
  const std::string_view system =
      name.starts_with('$') && name != "$.xgafv" ? std::string_view(name).substr(1) : std::string_view(name);
  if (system == "fields") return ReadFields(value, method, form);
  if (system == "prettyPrint") return ReadPretty(value, form);
  if (system == "$.xgafv") return ReadErrorForm(value, form);
  if (system == "alt") return CheckAlt(value, method);
  if (system == "quotaUser") return CheckQuotaUser(value);
  if (system == "callback") {
    if (value.empty()) return {};
    return std::unexpected(InvalidArgument("callback", "JSONP is not supported. Remove 'callback'"));
  }
  if (std::ranges::find(kIgnored, system) != kIgnored.end()) return {};
  std::string camel = CamelCase(name);
  if (!IsOneOf(camel, method.parameters)) return std::unexpected(UnknownParameter(name));
  if (!wire::IsUtf8(value))
    return std::unexpected(InvalidArgument(camel, "Invalid value at '" + camel + "': malformed UTF-8"));
  name = std::move(camel);
  return {};
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Ids, numbers and names in the old form ("example.com:id"). The length rule of Google Cloud is not
/// enforced. Names with '/' would be other resources, names with line ends could forge log lines.
bool IsProject(std::string_view name) {
  constexpr std::size_t kLengthMax = 128;
  return !name.empty() && name.size() <= kLengthMax && IsLetterOrDigit(name.front()) &&
         std::ranges::all_of(
             name, [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.' || c == ':'; });
}

Status CheckPathParameter(const std::string& name, const std::string& value, bool any_project) {
  if (!wire::IsUtf8(value))
    return std::unexpected(InvalidArgument("name", "The " + name + " in the request's path is not UTF-8"));
  if (name == "project" && !(any_project && value == "-") && !IsProject(value))
    return std::unexpected(InvalidArgument("name", "'" + value + "' is not the id of a project"));
  return {};
}

/// The only lists in a query (entries:tail, jobs:watch).
constexpr std::array<std::string_view, 2> kRepeated = {"resourceNames", "logsOf"};

/// A repeated parameter is an error: there is no way to know which value is meant. Names are in camelCase by
/// now.
Status CheckDoubled(const Request& request) {
  for (auto one = request.query.begin(); one != request.query.end(); ++one) {
    const auto again = std::find_if(std::next(one), request.query.end(), [&](const auto& other) {
      return other.first == one->first && other.second != one->second;
    });
    const bool is_list = std::ranges::find(kRepeated, one->first) != kRepeated.end();
    if (again == request.query.end() || is_list) continue;
    return std::unexpected(
        InvalidArgument(one->first, "The query has two different values for '" + one->first + "'"));
  }
  return {};
}

/// The form is kept even if a later parameter is an error: the error is answered in that form.
Status ReadParameters(Request& request, const MethodForm& method, AnswerForm& form) {
  Status first;
  for (auto& [name, value] : request.query) {
    Status read = ReadParameter(name, value, method, form);
    if (!read && first) first = std::move(read);
  }
  if (first) first = CheckDoubled(request);
  for (const auto& [name, value] : request.parameters) {
    if (first) first = CheckPathParameter(name, value, method.any_project);
  }
  return first;
}

/// In the default form the connection's code prints it.
Result<Response> Refusal(Error error, const AnswerForm& form) {
  if (form.pretty && !form.first_error_form) return std::unexpected(std::move(error));
  std::string body = form.first_error_form ? wire::PrintFirstErrorBody(error) : wire::PrintErrorBody(error);
  if (!form.pretty) body = wire::CompactJson(body);
  return Response::Json(std::move(body), wire::HttpStatus(error.code));
}

void Shape(Response& response, const AnswerForm& form) {
  auto* text = std::get_if<std::string>(&response.body);
  if (text == nullptr || !response.headers.Get("Content-Type").starts_with("application/json")) return;
  const bool ok = response.status >= 200 && response.status < 300;
  if (form.fields && ok) *text = form.fields->Apply(*text);
  if (!form.pretty) *text = wire::CompactJson(*text);
}

awaitable<Result<Response>> Run(std::shared_ptr<const Method> method, Request& request) {
  AnswerForm form;
  if (Status read = ReadParameters(request, method->form, form); !read)
    co_return Refusal(std::move(read).error(), form);
  Result<Response> response = co_await method->handler(request);
  if (!response) co_return Refusal(std::move(response).error(), form);
  Shape(*response, form);
  co_return response;
}

}  // namespace

http::Handler WithSystemParameters(MethodForm form, http::Handler method) {
  // Shared: std::function copies its target.
  auto shared = std::make_shared<const Method>(Method{.form = std::move(form), .handler = std::move(method)});
  return [shared](Request& request) { return Run(shared, request); };
}

bool ShapesAnswer(const http::Request& request) {
  constexpr std::array<std::string_view, 4> kShaping = {"fields", "$fields", "prettyPrint", "$prettyPrint"};
  return std::ranges::any_of(kShaping, [&request](std::string_view name) { return request.HasQuery(name); });
}

Result<int> QueryNumber(const http::Request& request, std::string_view name, std::string_view field) {
  const std::string_view text = request.Query(name);
  if (text.empty()) return 0;
  if (const auto number = WholeNumber<int>(text)) return *number;
  return std::unexpected(InvalidArgument(field, "Invalid value at '" + std::string(field) +
                                                    "' (TYPE_INT32), \"" + wire::ReplaceMalformed(text) +
                                                    "\""));
}

}  // namespace trainyard::api
