// Timestamps and durations, and what filters take for them: what is read prints and reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "base/check.h"
#include "base/wire/filter_operand.h"
#include "base/wire/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = trainyard::wire;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = wire::ParseTime(text)) {
    TY_CHECK(wire::ParseTime(wire::PrintTime(*time)) == time);
    TY_CHECK(wire::FromProto(wire::ToProto(*time)) == *time);
    TY_CHECK(wire::ReadTime(text) == *time);
  }
  if (const auto length = wire::ParseDuration(text)) {
    TY_CHECK(wire::ParseDuration(wire::PrintDuration(*length)) == length);
    TY_CHECK(wire::FromProto(wire::ToProto(*length)) == *length);
    TY_CHECK(wire::ReadLength(text).has_value());
  }
  if (const auto length = wire::ReadLength(text)) {
    TY_CHECK(wire::ReadLength(std::to_string(length->count()) + "ns") == length);
  }
  if (const auto number = wire::ReadNumber(text); number && *number == *number) {
    TY_CHECK(wire::ReadNumber("+" + std::string(text)).has_value() || text.starts_with('+') ||
             text.starts_with('-'));
  }
  TY_CHECK(wire::MatchesGlob(text, text));
  TY_CHECK(wire::MatchesGlob(text, "*"));
  return 0;
}
