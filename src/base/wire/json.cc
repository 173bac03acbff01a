#include "base/wire/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/wire/json_shape.h"
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

/// A copy that protobuf's JSON mapping can print, for a message that it refuses: times out of range become
/// the nearest valid time, and values of a Struct that are nested too deep to be read again become the text
/// "(nested too deep)". One such value, written by a user's program into its log, must not make a page of
/// entries unreadable. Pure: any thread.
std::unique_ptr<Message> PrintableCopy(const Message& message) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  MakePrintable(*copy, 0);
  return copy;
}

// Protobuf's parser is slow, and continues after an error that stops ours.
constexpr std::size_t kSyntaxWordedBytesMax = std::size_t{32} << 10;

using google::protobuf::Message;
namespace util = google::protobuf::util;

Error Refused(std::vector<FieldViolation> violations) {
  std::string message;
  for (const auto& violation : violations) {
    if (!message.empty()) message += '\n';
    message += violation.description;
  }
  return Error{.code = Code::kInvalidArgument,
               .message = std::move(message),
               .field = {},
               .violations = std::move(violations)};
}

Error Malformed(std::string_view reason) {
  return Refused({{.field = {}, .description = "Invalid JSON payload received. " + std::string(reason)}});
}

Error TooManyValues(const Error& reason, std::string_view root) {
  std::string field(root);
  if (!field.empty() && !reason.field.empty()) field += '.';
  field += reason.field;
  std::string text = "Invalid JSON payload received. " + reason.message;
  if (!field.empty()) text += ", at '" + field + "'";
  return Refused({{.field = std::move(field), .description = std::move(text)}});
}

/// Sorts maps by key: they have no order, and the same message must always give the same text.
std::string SortedBytes(const Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&coded);
  }
  return bytes;
}

/// Like util::MessageToJsonString, except for the order of maps.
bool PrintTo(const Message& message, const util::JsonPrintOptions& options, std::string& text) {
  constexpr char kPrefix[] = "type.googleapis.com";
  static util::TypeResolver* const kResolver =  // never deleted: other statics may print
      util::NewTypeResolverForDescriptorPool(kPrefix, google::protobuf::DescriptorPool::generated_pool());
  const std::string url = std::string(kPrefix) + "/" + message.GetDescriptor()->full_name();
  return util::BinaryToJsonString(kResolver, url, SortedBytes(message), &text, options).ok();
}

std::string Print(const Message& message, bool proto_names) {
  util::JsonPrintOptions options;
  options.preserve_proto_field_names = proto_names;
  std::string text;
  if (PrintTo(message, options, text)) return text;
  text.clear();
  TY_CHECK(PrintTo(*PrintableCopy(message), options, text));
  return text;
}

}  // namespace

Status ParseJson(std::string_view text, Message& out, std::string_view root) {
  out.Clear();
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  auto tree = ParseJsonTree(text, kJsonValuesMax);
  std::string fitted;
  if (tree) {
    Shape shape = FitShape(*tree, *out.GetDescriptor(), root);
    if (!shape.violations.empty()) return std::unexpected(Refused(std::move(shape.violations)));
    if (shape.changed) text = fitted = PrintJsonTree(*tree);
  }
  if (!tree && tree.error().code == Code::kResourceExhausted)
    return std::unexpected(TooManyValues(tree.error(), root));
  // Protobuf's parser reports a syntax error like Google's service, with the surrounding text, but accepts
  // missing quotes: then our reason is used.
  const bool is_worded = text.size() <= kSyntaxWordedBytesMax && !MayHoldSecret(text);
  if (!tree && !is_worded) return std::unexpected(Malformed(tree.error().message));
  const auto status = util::JsonStringToMessage({text.data(), text.size()}, &out);
  if (!status.ok() && !is_worded) return std::unexpected(Malformed("A value cannot be read"));
  if (!status.ok()) return std::unexpected(Malformed({status.message().data(), status.message().size()}));
  if (!tree) return std::unexpected(Malformed(tree.error().message));
  return {};
}

std::string PrintJson(const Message& message) { return IndentJson(Print(message, false)); }

std::string PrintJsonCompact(const Message& message) { return Print(message, false); }

std::string PrintJsonProtoNames(const Message& message) { return Print(message, true); }

}  // namespace trainyard::wire
