#include "base/wire/time.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace trainyard::wire {
namespace {

using google::protobuf::util::TimeUtil;
using std::chrono::nanoseconds;

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kNanosMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNanosMin = std::numeric_limits<std::int64_t>::min();

/// seconds * 10^9 + nanos, or the nearest that 64 bits hold.
nanoseconds Saturated(std::int64_t seconds, std::int32_t nanos) {
  std::int64_t total = 0;
  if (__builtin_mul_overflow(seconds, kNanosPerSecond, &total) ||
      __builtin_add_overflow(total, nanos, &total)) {
    return nanoseconds(seconds < 0 ? kNanosMin : kNanosMax);
  }
  return nanoseconds(total);
}

/// TimeUtil aborts on a Timestamp or Duration out of its own range, but never on what it parsed itself.
Error Malformed(std::string message) { return InvalidArgument({}, std::move(message)); }

/// "-12.5"; protobuf's own reader accepts more than it writes ("--0.0").
bool IsDecimal(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kFractionMax = 9;
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = std::min(text.find_first_not_of(kDigits), text.size());
  if (whole == text.size()) return whole > 0;
  const std::string_view fraction = text.substr(whole + 1);
  return whole > 0 && text[whole] == '.' && !fraction.empty() && fraction.size() <= kFractionMax &&
         fraction.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

google::protobuf::Timestamp ToProto(SysTime time) {
  // Not chrono::floor: it overflows on the first second that fits into 64 bits.
  const std::int64_t count = time.time_since_epoch().count();
  const std::int64_t rest = count % kNanosPerSecond;
  google::protobuf::Timestamp result;
  result.set_seconds(count / kNanosPerSecond - (rest < 0 ? 1 : 0));
  result.set_nanos(static_cast<std::int32_t>(rest < 0 ? rest + kNanosPerSecond : rest));
  return result;
}

SysTime FromProto(const google::protobuf::Timestamp& time) {
  return SysTime(Saturated(time.seconds(), time.nanos()));
}

google::protobuf::Duration ToProto(nanoseconds duration) {
  google::protobuf::Duration result;
  result.set_seconds(duration.count() / kNanosPerSecond);
  result.set_nanos(static_cast<std::int32_t>(duration.count() % kNanosPerSecond));
  return result;
}

nanoseconds FromProto(const google::protobuf::Duration& duration) {
  return Saturated(duration.seconds(), duration.nanos());
}

std::string PrintTime(SysTime time) { return TimeUtil::ToString(ToProto(time)); }

Result<SysTime> ParseTime(std::string_view text) {
  google::protobuf::Timestamp time;
  if (!TimeUtil::FromString(std::string(text), &time)) {
    return std::unexpected(Malformed("Invalid time format: " + std::string(text)));
  }
  return FromProto(time);
}

std::string PrintDuration(nanoseconds duration) { return TimeUtil::ToString(ToProto(duration)); }

Result<nanoseconds> ParseDuration(std::string_view text) {
  google::protobuf::Duration duration;
  if (!text.ends_with('s'))
    return std::unexpected(Malformed("Illegal duration format; duration must end with 's'"));
  if (!IsDecimal(text.substr(0, text.size() - 1)) || !TimeUtil::FromString(std::string(text), &duration)) {
    return std::unexpected(Malformed("Invalid duration format, failed to parse seconds"));
  }
  constexpr std::int64_t kSecondsMax = kNanosMax / kNanosPerSecond;
  if (duration.seconds() >= kSecondsMax || duration.seconds() <= -kSecondsMax) {
    return std::unexpected(Malformed("Duration value exceeds limits"));
  }
  return FromProto(duration);
}

}  // namespace trainyard::wire
