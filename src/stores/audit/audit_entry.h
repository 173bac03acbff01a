#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/access/audit_line.h"
#include "trainyard/logging/v2/logging.pb.h"

/// Decisions as Cloud Audit Logs shows them. Pure: any thread. Sources: the public pages "Cloud Audit Logs
/// overview" and "Understand audit logs"; google/cloud/audit/audit_log.proto.
namespace trainyard::audit {

/// An audit line with what the server's front does not know.
struct AuditEvent {
  access::AuditLine line;
  std::string project;  ///< the project in whose log the entry is
  SysTime time;         ///< unique in the log, odd nanoseconds (JSON then prints nine digits)
  SysTime received;     ///< when the decision was made, by the server's clock
};

/// The limits of texts that clients choose. A longer text is cut and ends with kCut.
inline constexpr std::size_t kAgentBytesMax = 512;
inline constexpr std::size_t kNameBytesMax = 1'024;  ///< of a resource, a method, a principal
inline constexpr std::string_view kCut = "...";

/// Cuts the texts to their limits and makes control characters (line ends and tabs too) and invalid UTF-8
/// visible (base/wire/utf8.h), so that one request takes bounded space in memory and on disk and is
/// shown as one line.
[[nodiscard]] access::AuditLine Tidied(access::AuditLine line);
/// Drops what Tidied would drop, and no more: for the thread that makes the decision, which has no time for
/// the rest.
[[nodiscard]] access::AuditLine Bounded(access::AuditLine line);

/// The project in whose log the line is: the project of its resource, if it can be one; for a service account
/// of project "-" the one in its e-mail; otherwise `default_project` (for the installation and for unknown
/// callers). `bucket_project`: the project of a bucket, empty if it is not known.
[[nodiscard]] std::string ProjectOf(const access::AuditLine& line, std::string_view bucket_project,
                                    std::string_view default_project);

/// The entry of a tidied line as one line of a file, without the line end: a LogEntry as JSON, which
/// ParseEntry reads. The writer's thread shares the machine with those that create jobs, so this does not go
/// through protobuf messages, which costs ten times as much.
///
/// The log is "activity" for changes to resources and policies, "data_access" for everything else. A refusal
/// is in the log of its method, with status and severity ERROR: the log "policy" is only for what a security
/// policy (VPC Service Controls, organization policies) denies, and there are none here.
[[nodiscard]] std::string LineOf(const AuditEvent& event);

/// Why there are decisions without an entry.
enum class LeftOut : std::uint8_t {
  kDiskTooSlow,  ///< it did not take them in time
  kNobody,       ///< too many refusals of callers that nobody knows
};
/// An entry that replaces the missing ones, in the log "activity" of the project.
[[nodiscard]] std::string LineOf(LeftOut why, std::int64_t count, std::string_view project, SysTime time,
                                 SysTime received);

/// Parses a line of a file, without its line end. Nothing: it is not an entry (cut by a crash, or written by
/// another program).
[[nodiscard]] std::optional<logging::v2::LogEntry> ParseEntry(std::string_view text);

inline constexpr std::string_view kLogPrefix = "cloudaudit.googleapis.com%2F";

}  // namespace trainyard::audit
