#include "stores/audit/audit_entry.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "rules/iam/method_table.h"
#include "rules/iam/resource.h"

namespace trainyard::audit {

namespace {

namespace json = boost::json;
using access::AuditLine;
using logging::v2::LogEntry;

constexpr std::string_view kType = "type.googleapis.com/google.cloud.audit.AuditLog";
constexpr std::string_view kCredentialLabel = "trainyard/credential";
constexpr std::string_view kAccountSuffix = ".iam.gserviceaccount.com";
constexpr std::size_t kProjectBytesMax = 100;
constexpr int kOkEnd = 400;
constexpr int kServerErrors = 500;

std::string OneLine(std::string_view text, std::size_t bytes_max) {
  // Each byte may become four: bytes that will be cut off need not be made visible.
  std::string visible;
  for (const char c : wire::VisibleText(text.substr(0, bytes_max + 1))) {
    switch (c) {
      case '\n': visible += "\\n"; break;
      case '\r': visible += "\\r"; break;
      case '\t': visible += "\\t"; break;
      default: visible += c;
    }
  }
  if (visible.size() <= bytes_max) return visible;
  visible.resize(wire::Utf8Prefix(visible, bytes_max - kCut.size()));
  return visible.append(kCut);
}

std::array<std::string*, 7> NamesOf(AuditLine& line) {
  return {&line.principal,  &line.credential,       &line.address,      &line.method_name,
          &line.permission, &line.resource.project, &line.resource.name};
}

/// Keeps one byte more than is shown, so that Tidied sees that the text was cut.
void Bound(std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max + 1) return;
  text.resize(bytes_max + 1);
  text.shrink_to_fit();
}

bool CanBeProject(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && text != "-" && text.size() <= kProjectBytesMax &&
         std::ranges::all_of(text, is_allowed);
}

/// "trainer@p.iam.gserviceaccount.com" -> "p".
std::string_view ProjectOfAccount(std::string_view email) {
  const std::size_t at = email.find('@');
  if (at == std::string_view::npos || !email.ends_with(kAccountSuffix)) return {};
  email.remove_suffix(kAccountSuffix.size());
  return email.size() <= at ? std::string_view() : email.substr(at + 1);
}

/// google.rpc.Code of an HTTP status. Source: google/rpc/code.proto, "HTTP Mapping".
Code CodeOf(int status) {
  static constexpr std::array<std::pair<int, Code>, 13> kCodes{{{400, Code::kInvalidArgument},
                                                                {401, Code::kUnauthenticated},
                                                                {403, Code::kPermissionDenied},
                                                                {404, Code::kNotFound},
                                                                {409, Code::kAlreadyExists},
                                                                {412, Code::kFailedPrecondition},
                                                                {413, Code::kOutOfRange},
                                                                {416, Code::kOutOfRange},
                                                                {429, Code::kResourceExhausted},
                                                                {499, Code::kCancelled},
                                                                {501, Code::kUnimplemented},
                                                                {503, Code::kUnavailable},
                                                                {504, Code::kDeadlineExceeded}}};
  for (const auto& [http, code] : kCodes)
    if (http == status) return code;
  return status >= kServerErrors ? Code::kInternal : Code::kInvalidArgument;
}

std::string MessageOf(const AuditLine& line, Code code) {
  const std::string resource = iam::NameOf(line.resource);
  if (!line.is_granted && line.principal.empty())
    return "Unknown caller: no token, or a token that is not valid.";
  if (!line.is_granted) return "Permission '" + line.permission + "' denied on resource '" + resource + "'.";
  return std::string(CodeName(code));
}

std::string_view LogOf(iam::AuditKind kind) {
  return kind == iam::AuditKind::kAdminActivity ? "activity" : "data_access";
}

std::string_view SeverityOf(const AuditLine& line) {
  if (!line.is_granted || line.status >= kOkEnd) return "ERROR";
  return line.kind == iam::AuditKind::kAdminActivity ? "NOTICE" : "INFO";
}

void Set(json::object& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object[name] = text;
}

/// The common part of all entries, with an empty "protoPayload".
struct Call {
  std::string_view project;
  std::string_view log;
  std::string_view service;
  std::string_view method;
  std::string_view severity;
};
json::object Common(const Call& call, SysTime time, SysTime received) {
  const std::string log = "projects/" + std::string(call.project) + "/logs/" + std::string(kLogPrefix);
  return {{"logName", log + std::string(call.log)},
          // A decimal number, which has the same width until the year 2286, so that ids sort as the times do.
          {"insertId", std::to_string(time.time_since_epoch().count())},
          {"timestamp", wire::PrintTime(time)},
          {"receiveTimestamp", wire::PrintTime(received)},
          {"severity", call.severity},
          {"resource",
           {{"type", "audited_resource"},
            {"labels", {{"project_id", call.project}, {"service", call.service}, {"method", call.method}}}}},
          {"protoPayload", {{"@type", kType}, {"serviceName", call.service}, {"methodName", call.method}}}};
}

json::object StatusOf(Code code, std::string_view message) {
  return {{"code", static_cast<int>(code)}, {"message", message}};
}

void SetCaller(const AuditLine& line, json::object& payload) {
  json::object who;
  const std::size_t colon = line.principal.find(':');
  if (colon != std::string::npos)
    Set(who, "principalEmail", std::string_view(line.principal).substr(colon + 1));
  Set(who, "principalSubject", line.principal);
  payload["authenticationInfo"] = std::move(who);
  json::object where;
  Set(where, "callerIp", line.address);
  Set(where, "callerSuppliedUserAgent", line.agent);
  payload["requestMetadata"] = std::move(where);
}

}  // namespace

AuditLine Tidied(AuditLine line) {
  line.agent = OneLine(line.agent, kAgentBytesMax);
  for (std::string* text : NamesOf(line)) *text = OneLine(*text, kNameBytesMax);
  return line;
}

AuditLine Bounded(AuditLine line) {
  Bound(line.agent, kAgentBytesMax);
  for (std::string* text : NamesOf(line)) Bound(*text, kNameBytesMax);
  return line;
}

std::string ProjectOf(const AuditLine& line, std::string_view bucket_project,
                      std::string_view default_project) {
  std::string_view project = line.resource.project;
  if (line.resource.kind == iam::Resource::Kind::kBucket) project = bucket_project;
  if (line.resource.kind == iam::Resource::Kind::kServiceAccount && project == "-")
    project = ProjectOfAccount(line.resource.name);
  return std::string(CanBeProject(project) ? project : default_project);
}

std::string LineOf(const AuditEvent& event) {
  const AuditLine& line = event.line;
  const std::string service = iam::ServiceName(line.permission, line.method_name);
  json::object entry = Common({.project = event.project,
                               .log = LogOf(line.kind),
                               .service = service,
                               .method = line.method_name,
                               .severity = SeverityOf(line)},
                              event.time, event.received);
  if (!line.credential.empty()) entry["labels"] = {{kCredentialLabel, line.credential}};
  json::object& payload = entry["protoPayload"].as_object();
  const std::string resource = iam::NameOf(line.resource);
  Set(payload, "resourceName", resource);
  SetCaller(line, payload);
  if (!line.permission.empty()) {
    json::object asked{{"permission", line.permission}, {"granted", line.is_granted}};
    Set(asked, "resource", resource);
    payload["authorizationInfo"] = json::array{std::move(asked)};
  }
  if (line.status >= kOkEnd || !line.is_granted) {
    const Code code = CodeOf(line.status);
    payload["status"] = StatusOf(code, MessageOf(line, code));
  }
  return json::serialize(entry);
}

std::string LineOf(LeftOut why, std::int64_t count, std::string_view project, SysTime time,
                   SysTime received) {
  json::object entry = Common({.project = project,
                               .log = "activity",
                               .service = iam::kOwnService,
                               .method = "trainyard.audit.LinesLeftOut",
                               .severity = "ERROR"},
                              time, received);
  json::object& payload = entry["protoPayload"].as_object();
  const std::string reason = why == LeftOut::kDiskTooSlow
                                 ? " decisions are not in this log: the disk was too slow"
                                 : " refusals of unknown callers are not in this log: there were too many";
  payload["status"] = StatusOf(Code::kResourceExhausted, std::to_string(count) + reason);
  payload["metadata"] = {{"leftOut", count}};
  return json::serialize(entry);
}

std::optional<LogEntry> ParseEntry(std::string_view text) {
  LogEntry entry;
  if (text.empty() || !wire::ParseJson(text, entry) || !entry.has_timestamp()) return std::nullopt;
  return entry;
}

}  // namespace trainyard::audit
