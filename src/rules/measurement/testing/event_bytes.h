#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "rules/measurement/event_scalars.h"
#include "trainyard/tensorflow/event.pb.h"

/// Event files as TensorFlow writes them, for tests.
namespace trainyard::measurement {

inline std::string MaskedCrc(std::string_view bytes) {
  const std::uint32_t masked = std::rotr(Crc32c(bytes), 15) + 0xA282EAD8U;
  return {reinterpret_cast<const char*>(&masked), sizeof masked};
}

inline std::string RecordBytes(const std::string& contents) {
  const std::uint64_t length = contents.size();
  const std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  return head + MaskedCrc(head) + contents + MaskedCrc(contents);
}

/// One event with one value of TensorFlow 1's kind.
inline std::string EventBytes(const Scalar& scalar) {
  tensorflow::Event event;
  event.set_wall_time(scalar.time_s);
  event.set_step(scalar.step);
  tensorflow::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(scalar.tag);
  value.set_simple_value(static_cast<float>(scalar.value));
  return RecordBytes(event.SerializeAsString());
}

}  // namespace trainyard::measurement
