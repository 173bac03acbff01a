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

/// A line with what the door does not know.
struct AuditEvent {
  access::AuditLine line;
  std::string project;  ///< in whose log it is
  SysTime time;         ///< unique in the log, odd nanoseconds (JSON then prints nine digits)
  SysTime received;     ///< the clock's
};

/// Of texts that clients choose; what is beyond is cut, and ends with kCut.
inline constexpr std::size_t kAgentBytesMax = 512;
inline constexpr std::size_t kNameBytesMax = 1'024;  ///< of a resource, a method, a principal
inline constexpr std::string_view kCut = "...";

/// Cuts the texts, makes control characters and what is no UTF-8 visible (base/wire/visible_text.h; line ends
/// and tabs too): one request takes a bounded place, in memory as on disk, and shows itself as one line.
[[nodiscard]] access::AuditLine Tidied(access::AuditLine line);
/// Drops what Tidied would drop, and no more: for who decides, and has no time.
[[nodiscard]] access::AuditLine Bounded(access::AuditLine line);

/// The project in whose log the line is: that of its resource, if it can be one; for a service account of
/// project "-" that of its e-mail; else `default_project` (the installation; nobody who is known).
/// `bucket_project`: of a bucket, empty if it is not known.
[[nodiscard]] std::string ProjectOf(const access::AuditLine& line, std::string_view bucket_project,
                                    std::string_view default_project);

/// The entry as a line of a file, without its end, of a tidied line: a LogEntry as JSON, which ParseEntry
/// reads. The thread that writes shares the machine with who creates jobs, so this takes no way through
/// messages, which costs ten times as much.
///
/// The log: "activity" for changes to what there is and who may what, "data_access" for all else. A refusal
/// is in the log of its method, with status and severity ERROR: the log "policy" has only what a security
/// policy (VPC Service Controls, organization policies) denies, which there is not here.
[[nodiscard]] std::string LineOf(const AuditEvent& event);

/// Why there are decisions without an entry.
enum class LeftOut : std::uint8_t {
  kDiskTooSlow,  ///< it did not take them in time
  kNobody,       ///< too many refusals of callers that nobody knows
};
/// The line that stands for them, in the log "activity" of the project.
[[nodiscard]] std::string LineOf(LeftOut why, std::int64_t count, std::string_view project, SysTime time,
                                 SysTime received);

/// A line of a file, without its end. Nothing: it is not one (cut by a crash, another program's).
[[nodiscard]] std::optional<logging::v2::LogEntry> ParseEntry(std::string_view text);

inline constexpr std::string_view kLogPrefix = "cloudaudit.googleapis.com%2F";

}  // namespace trainyard::audit
