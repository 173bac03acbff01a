#include "cli/admin/audit_command.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wire/time.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"

namespace trainyard::cli {
namespace {

constexpr std::int64_t kLimitDefault = 100;
constexpr std::int64_t kPageSizeMax = 1'000;
constexpr const char* kSinceDefault = "1d";

/// As a value of the filter language.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string ResultOf(const Json& entry) {
  const std::string text = TextAt(entry, "protoPayload.status.code");
  int code = 0;
  if (text.empty() || !ReadNumber(text, code) || code == 0) return "OK";
  return std::string(CodeName(static_cast<Code>(code)));
}

Result<std::vector<Json>> FetchEntries(const CommandSession& session, const std::string& filter,
                                       std::size_t limit) {
  std::vector<Json> entries;
  std::string page_token;
  do {
    Json body = JsonObject({{"resourceNames", JsonArray({"projects/" + session.project.value})},
                            {"filter", JsonString(filter)},
                            {"orderBy", JsonString("timestamp desc")}});
    const auto wanted = std::min<std::size_t>(kPageSizeMax, limit - entries.size());
    SetMember(body, "pageSize", JsonNumber(std::to_string(wanted)));
    if (!page_token.empty()) SetMember(body, "pageToken", JsonString(page_token));
    TY_TRY(const Json page, PostJson(session.client, "/v2/entries:list", body));
    std::ranges::copy(ListAt(page, "entries"), std::back_inserter(entries));
    page_token = TextAt(page, "nextPageToken");
  } while (!page_token.empty() && entries.size() < limit);
  return entries;
}

}  // namespace

Result<std::chrono::seconds> ParseAge(std::string_view text) {
  const auto refused = [text] {
    return std::unexpected(
        InvalidArgument("", "'" + std::string(text) + "' is not an age, as 90s, 30m, 12h or 7d"));
  };
  constexpr std::int64_t kYears100 = 36'500;
  std::int64_t number = 0;
  if (text.size() < 2 || !ReadNumber(text.substr(0, text.size() - 1), number) || number <= 0)
    return refused();
  std::chrono::seconds unit{};
  switch (text.back()) {
    case 's': unit = std::chrono::seconds(1); break;
    case 'm': unit = std::chrono::minutes(1); break;
    case 'h': unit = std::chrono::hours(1); break;
    case 'd': unit = std::chrono::days(1); break;
    default: return refused();
  }
  if (number > std::chrono::days(kYears100) / unit) return refused();
  return unit * number;
}

Status CheckAge(std::string_view text) {
  const Result<std::chrono::seconds> age = ParseAge(text);
  if (!age) return std::unexpected(age.error());
  return {};
}

std::string AuditFilter(const AuditWanted& wanted) {
  std::string filter =
      R"(logName:"cloudaudit.googleapis.com" AND timestamp>=)" + Quoted(wire::PrintTime(wanted.since));
  if (wanted.principal) {
    const std::size_t colon = wanted.principal->find(':');
    const std::string email =
        colon == std::string::npos ? *wanted.principal : wanted.principal->substr(colon + 1);
    filter += " AND protoPayload.authenticationInfo.principalEmail=" + Quoted(email);
  }
  // PERMISSION_DENIED and UNAUTHENTICATED of google.rpc.Code.
  if (wanted.denied) filter += " AND protoPayload.status.code=(7 OR 16)";
  return filter;
}

std::vector<std::string> AuditCells(const Json& entry) {
  const auto text = [&entry](std::string_view path) {
    const std::string found = TextAt(entry, path);
    return found.empty() ? std::string("-") : found;
  };
  return {LocalTime(TextAt(entry, "timestamp"), kDateFormat),
          text("protoPayload.authenticationInfo.principalEmail"),
          text("protoPayload.requestMetadata.callerIp"),
          text("protoPayload.methodName"),
          text("protoPayload.resourceName"),
          ResultOf(entry)};
}

ExitStatus ShowAuditLog(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  std::int64_t limit = kLimitDefault;
  if (const auto flag = arguments.Value("--limit"))
    if (!ReadNumber(std::string_view(*flag), limit))
      return std::unexpected(InvalidArgument("--limit", "'" + *flag + "' is not a number of entries"));
  TY_TRY(const std::chrono::seconds age, ParseAge(arguments.Value("--since").value_or(kSinceDefault)));
  const AuditWanted wanted{.since = std::chrono::system_clock::now() - age,
                           .principal = arguments.Value("--principal"),
                           .denied = arguments.IsOn("--denied")};
  TY_TRY(const std::vector<Json> entries,
         FetchEntries(session, AuditFilter(wanted), static_cast<std::size_t>(limit)));
  if (entries.empty() && session.format.kind == OutputFormat::Kind::kDefault) {
    session.console.Status("Listed 0 items.\n");
    return 0;
  }
  Rows rows{{"TIME", "PRINCIPAL", "FROM", "METHOD", "RESOURCE", "RESULT"}};
  for (const Json& entry : entries) rows.push_back(AuditCells(entry));
  session.PrintList(session.format, rows, entries);
  return 0;
}

}  // namespace trainyard::cli
