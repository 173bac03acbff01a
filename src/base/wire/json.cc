#include "base/wire/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/wire/json_indent.h"
#include "base/wire/json_printable.h"
#include "base/wire/json_shape.h"
#include "base/wire/json_tree.h"

namespace trainyard::wire {
namespace {

// Protobuf's parser is slow, and reads on after an error that ends ours.
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

/// As util::MessageToJsonString, except for the order of maps.
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
  const auto tree = ParseJsonTree(text, kJsonValuesMax);
  if (tree) {
    if (auto violations = ShapeViolations(*tree, *out.GetDescriptor(), root); !violations.empty()) {
      return std::unexpected(Refused(std::move(violations)));
    }
  }
  if (!tree && tree.error().code == Code::kResourceExhausted)
    return std::unexpected(TooManyValues(tree.error(), root));
  // Protobuf's parser words a syntax error as Google's service does, with the text around it, but lets quotes
  // be left out: then our reason stands.
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
