#include "rules/measurement/event_scalars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "trainyard/tensorflow/event.pb.h"

namespace trainyard::measurement {

namespace {

using tensorflow::Summary;
using tensorflow::Tensor;

/// Values from TensorFlow's types.proto.
enum DataType : std::int32_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23,
};

double FromBfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

/// IEEE 754 binary16.
double FromHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 0x1F;
  const double fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

template <class T>
std::optional<T> ContentOf(const Tensor& tensor) {
  T value;
  if (tensor.tensor_content().size() != sizeof value) return std::nullopt;
  std::memcpy(&value, tensor.tensor_content().data(), sizeof value);
  return value;
}

/// The tensor's only element, of type T, from the field that has it. An empty list means zero.
template <class T, class List>
std::optional<T> ElementOf(const Tensor& tensor, const List& list) {
  if (!tensor.tensor_content().empty()) return ContentOf<T>(tensor);
  if (list.size() > 1) return std::nullopt;
  return list.empty() ? T{} : static_cast<T>(list.Get(0));
}

template <class T, class List>
std::optional<double> NumberIn(const Tensor& tensor, const List& list) {
  const auto element = ElementOf<T>(tensor, list);
  return element ? std::optional(static_cast<double>(*element)) : std::nullopt;
}

std::optional<double> NumberIn(const Tensor& tensor, double (*convert)(std::uint16_t)) {
  const auto bits = ElementOf<std::uint16_t>(tensor, tensor.half_val());
  return bits ? std::optional(convert(*bits)) : std::nullopt;
}

bool HasOneElement(const Tensor& tensor) {
  return std::ranges::all_of(tensor.tensor_shape().dim(), [](const auto& dim) { return dim.size() == 1; });
}

}  // namespace

std::optional<double> NumberOf(const tensorflow::Tensor& tensor) {
  if (!HasOneElement(tensor)) return std::nullopt;
  switch (tensor.dtype()) {
    case kFloat: return NumberIn<float>(tensor, tensor.float_val());
    case kDouble: return NumberIn<double>(tensor, tensor.double_val());
    case kInt32: return NumberIn<std::int32_t>(tensor, tensor.int_val());
    case kUint8: return NumberIn<std::uint8_t>(tensor, tensor.int_val());
    case kInt16: return NumberIn<std::int16_t>(tensor, tensor.int_val());
    case kInt8: return NumberIn<std::int8_t>(tensor, tensor.int_val());
    case kUint16: return NumberIn<std::uint16_t>(tensor, tensor.int_val());
    case kInt64: return NumberIn<std::int64_t>(tensor, tensor.int64_val());
    case kBool: return NumberIn<std::uint8_t>(tensor, tensor.bool_val());
    case kUint32: return NumberIn<std::uint32_t>(tensor, tensor.uint32_val());
    case kUint64: return NumberIn<std::uint64_t>(tensor, tensor.uint64_val());
    case kBfloat16: return NumberIn(tensor, FromBfloat16);
    case kHalf: return NumberIn(tensor, FromHalf);
    default: return std::nullopt;
  }
}

namespace {

/// Writers that set the plugin do so at least once per file; others never do.
bool MayBeScalar(const Summary::Value& value) {
  const std::string& plugin = value.metadata().plugin_data().plugin_name();
  return plugin.empty() || plugin == "scalars";
}

std::optional<double> ValueOf(const Summary::Value& value) {
  if (value.has_simple_value()) return static_cast<double>(value.simple_value());
  if (value.has_tensor() && MayBeScalar(value)) return NumberOf(value.tensor());
  return std::nullopt;
}

}  // namespace

std::vector<Scalar> ScalarsOf(std::string_view record) {
  tensorflow::Event event;
  std::vector<Scalar> scalars;
  if (!event.ParseFromArray(record.data(), static_cast<int>(record.size()))) return scalars;
  for (const Summary::Value& value : event.summary().value()) {
    const auto number = ValueOf(value);
    if (number)
      scalars.push_back(
          {.tag = value.tag(), .step = event.step(), .time_s = event.wall_time(), .value = *number});
  }
  return scalars;
}

}  // namespace trainyard::measurement
