#include "base/wire/json_printable.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/wire/json_tree.h"

namespace trainyard::wire {
namespace {

using google::protobuf::DynamicCastToGenerated;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// 0001-01-01T00:00:00Z, 9999-12-31T23:59:59Z and 10,000 years: the ends that protobuf defines.
constexpr std::int64_t kTimeSecondsMin = -62'135'596'800;
constexpr std::int64_t kTimeSecondsMax = 253'402'300'799;
constexpr std::int64_t kDurationSecondsMax = 315'576'000'000;
constexpr std::int32_t kNanosMax = 999'999'999;
// Less than the limit, so that a page of entries can be read again: the page, its list, the entry and its
// payload add levels.
constexpr std::size_t kStructDepthMax = kJsonDepthMax - 4;

void Clamp(google::protobuf::Timestamp& time) {
  time.set_seconds(std::clamp(time.seconds(), kTimeSecondsMin, kTimeSecondsMax));
  time.set_nanos(std::clamp(time.nanos(), 0, kNanosMax));
}

void Clamp(google::protobuf::Duration& duration) {
  duration.set_seconds(std::clamp(duration.seconds(), -kDurationSecondsMax, kDurationSecondsMax));
  const std::int32_t nanos = std::clamp(duration.nanos(), -kNanosMax, kNanosMax);
  const bool other_sign = (duration.seconds() < 0 && nanos > 0) || (duration.seconds() > 0 && nanos < 0);
  duration.set_nanos(other_sign ? 0 : nanos);
}

/// `depth`: objects and lists of a Struct around this message.
void MakePrintable(Message& message, std::size_t depth) {
  if (auto* time = DynamicCastToGenerated<google::protobuf::Timestamp>(&message)) return Clamp(*time);
  if (auto* duration = DynamicCastToGenerated<google::protobuf::Duration>(&message)) return Clamp(*duration);
  if (auto* value = DynamicCastToGenerated<google::protobuf::Value>(&message)) {
    if (!value->has_struct_value() && !value->has_list_value()) return;
    if (++depth > kStructDepthMax) return value->set_string_value("(nested too deep)");
  }
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      MakePrintable(*reflection.MutableMessage(&message, field), depth);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      MakePrintable(*reflection.MutableRepeatedMessage(&message, field, i), depth);
    }
  }
}

}  // namespace

std::unique_ptr<Message> PrintableCopy(const Message& message) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  MakePrintable(*copy, 0);
  return copy;
}

}  // namespace trainyard::wire
