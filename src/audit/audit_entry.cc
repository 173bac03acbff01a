#include "audit/audit_entry.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "iam/resource.h"
#include "iam/service_name.h"
#include "wire/json.h"
#include "wire/time.h"
#include "wire/utf8.h"
#include "wire/visible_text.h"

namespace trainyard::audit {

namespace {

using access::AuditLine;
using google::protobuf::Struct;
using logging::v2::LogEntry;

constexpr std::string_view kType = "type.googleapis.com/google.cloud.audit.AuditLog";
constexpr std::string_view kCredentialLabel = "trainyard/credential";
constexpr std::string_view kAccountSuffix = ".iam.gserviceaccount.com";
constexpr std::size_t kProjectBytesMax = 100;
constexpr int kOkEnd = 400;
constexpr int kServerErrors = 500;

std::string OneLine(std::string_view text, std::size_t bytes_max) {
  // Each byte may become four: what is never shown is not worth making visible.
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
    return "Nobody that is known: no token, or one that is not valid.";
  if (!line.is_granted) return "Permission '" + line.permission + "' denied on resource '" + resource + "'.";
  return std::string(CodeName(code));
}

std::string_view LogOf(iam::AuditKind kind) {
  return kind == iam::AuditKind::kAdminActivity ? "activity" : "data_access";
}

LogEntry::Severity SeverityOf(const AuditLine& line) {
  if (!line.is_granted || line.status >= kOkEnd) return LogEntry::ERROR;
  return line.kind == iam::AuditKind::kAdminActivity ? LogEntry::NOTICE : LogEntry::INFO;
}

void Set(Struct& object, const std::string& name, std::string_view text) {
  if (!text.empty()) (*object.mutable_fields())[name].set_string_value(std::string(text));
}

Struct& Member(Struct& object, const std::string& name) {
  return *(*object.mutable_fields())[name].mutable_struct_value();
}

/// What all entries have.
LogEntry Common(std::string_view project, std::string_view log, SysTime time, SysTime received) {
  LogEntry entry;
  entry.set_log_name("projects/" + std::string(project) + "/logs/" + std::string(kLogPrefix) +
                     std::string(log));
  // Of one width until the year 2286, so that they sort as the times do.
  entry.set_insert_id(std::to_string(time.time_since_epoch().count()));
  *entry.mutable_timestamp() = wire::ToProto(time);
  *entry.mutable_receive_timestamp() = wire::ToProto(received);
  entry.mutable_resource()->set_type("audited_resource");
  return entry;
}

void SetCall(std::string_view project, const std::string& service, const std::string& method,
             LogEntry& entry) {
  auto& labels = *entry.mutable_resource()->mutable_labels();
  labels["project_id"] = project;
  labels["service"] = service;
  labels["method"] = method;
  Struct& payload = *entry.mutable_proto_payload();
  Set(payload, "@type", kType);
  Set(payload, "serviceName", service);
  Set(payload, "methodName", method);
}

void SetStatus(Code code, const std::string& message, Struct& payload) {
  Struct& status = Member(payload, "status");
  (*status.mutable_fields())["code"].set_number_value(static_cast<int>(code));
  Set(status, "message", message);
}

void SetCaller(const AuditLine& line, Struct& payload) {
  Struct& who = Member(payload, "authenticationInfo");
  const std::size_t colon = line.principal.find(':');
  if (colon != std::string::npos) Set(who, "principalEmail", line.principal.substr(colon + 1));
  Set(who, "principalSubject", line.principal);
  Struct& where = Member(payload, "requestMetadata");
  Set(where, "callerIp", line.address);
  Set(where, "callerSuppliedUserAgent", line.agent);
}

}  // namespace

AuditLine Tidied(AuditLine line) {
  line.agent = OneLine(line.agent, kAgentBytesMax);
  for (std::string* text : {&line.principal, &line.credential, &line.address, &line.method_name,
                            &line.permission, &line.resource.project, &line.resource.name})
    *text = OneLine(*text, kNameBytesMax);
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

LogEntry EntryOf(const AuditEvent& event) {
  const AuditLine& line = event.line;
  LogEntry entry = Common(event.project, LogOf(line.kind), event.time, event.received);
  entry.set_severity(SeverityOf(line));
  if (!line.credential.empty()) (*entry.mutable_labels())[std::string(kCredentialLabel)] = line.credential;
  SetCall(event.project, iam::ServiceName(line.permission, line.method_name), line.method_name, entry);
  Struct& payload = *entry.mutable_proto_payload();
  const std::string resource = iam::NameOf(line.resource);
  Set(payload, "resourceName", resource);
  SetCaller(line, payload);
  if (!line.permission.empty()) {
    auto& list = *(*payload.mutable_fields())["authorizationInfo"].mutable_list_value();
    Struct& asked = *list.add_values()->mutable_struct_value();
    Set(asked, "permission", line.permission);
    Set(asked, "resource", resource);
    (*asked.mutable_fields())["granted"].set_bool_value(line.is_granted);
  }
  if (line.status >= kOkEnd || !line.is_granted) {
    const Code code = CodeOf(line.status);
    SetStatus(code, MessageOf(line, code), payload);
  }
  return entry;
}

LogEntry EntryOf(LeftOut why, std::int64_t count, std::string_view project, SysTime time, SysTime received) {
  LogEntry entry = Common(project, "activity", time, received);
  entry.set_severity(LogEntry::ERROR);
  SetCall(project, std::string(iam::kOwnService), "trainyard.audit.LinesLeftOut", entry);
  Struct& payload = *entry.mutable_proto_payload();
  const std::string reason =
      why == LeftOut::kDiskTooSlow
          ? " decisions are not in this log: the disk did not take them in time"
          : " refusals of callers that nobody knows are not in this log: there were too many";
  SetStatus(Code::kResourceExhausted, std::to_string(count) + reason, payload);
  Struct& metadata = Member(payload, "metadata");
  (*metadata.mutable_fields())["leftOut"].set_number_value(static_cast<double>(count));
  return entry;
}

std::optional<LogEntry> ParseEntry(std::string_view text) {
  LogEntry entry;
  if (text.empty() || !wire::ParseJson(text, entry) || !entry.has_timestamp()) return std::nullopt;
  return entry;
}

}  // namespace trainyard::audit
