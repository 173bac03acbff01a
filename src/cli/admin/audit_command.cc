#include "cli/admin/audit_command.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wire/time.h"
#include "cli/gcloud/flag_values.h"
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

std::string ResultOf(const Json& entry) {
  const std::int64_t code = ParseNumber(TextAt(entry, "protoPayload.status.code")).value_or(0);
  return code == 0 ? "OK" : std::string(CodeName(static_cast<Code>(code)));
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

std::string AuditFilter(const AuditQuery& wanted) {
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
  if (const auto flag = arguments.Value("--limit")) {
    const std::optional<std::int64_t> number = ParseNumber(*flag);
    if (!number)
      return std::unexpected(InvalidArgument("--limit", "'" + *flag + "' is not a number of entries"));
    limit = *number;
  }
  const AuditQuery wanted{.since = std::chrono::system_clock::now() -
                                   *ParseDuration(arguments.Value("--since").value_or(kSinceDefault)),
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
