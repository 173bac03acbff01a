#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace google::protobuf {
class Timestamp;
class Duration;
}  // namespace google::protobuf

/// Times between protobuf, RFC 3339 and chrono. SysTime has a range from 1677 to 2262: times outside of it
/// saturate, so comparisons with "0001-01-01T00:00:00Z" work as expected. Pure: any thread.
namespace trainyard::wire {

[[nodiscard]] google::protobuf::Timestamp ToProto(SysTime time);
[[nodiscard]] SysTime FromProto(const google::protobuf::Timestamp& time);

[[nodiscard]] google::protobuf::Duration ToProto(std::chrono::nanoseconds duration);
/// Saturates at about 292 years.
[[nodiscard]] std::chrono::nanoseconds FromProto(const google::protobuf::Duration& duration);

/// "2026-11-20T18:02:37Z", with 0, 3, 6 or 9 fraction digits: the fewest that are exact (protobuf's JSON
/// mapping).
[[nodiscard]] std::string PrintTime(SysTime time);

/// Reads RFC 3339 in any offset; digits beyond the ninth are cut off. kInvalidArgument without a field:
/// "Invalid time format: x".
[[nodiscard]] Result<SysTime> ParseTime(std::string_view text);

/// "3600s", "1.5s", "-0.000000001s", as protobuf prints durations.
[[nodiscard]] std::string PrintDuration(std::chrono::nanoseconds duration);

/// Reads protobuf's text of a duration. kInvalidArgument: "Illegal duration format; duration must end with
/// 's'", or "Duration value exceeds limits" beyond what nanoseconds can count.
[[nodiscard]] Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

}  // namespace trainyard::wire
