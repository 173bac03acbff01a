#include "api/vertex/grpc_methods.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/util/field_mask_util.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "api/route.h"
#include "base/text/percent.h"

namespace trainyard::api {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::util::FieldMaskUtil;
using Body = GrpcMethod::Body;

constexpr std::string_view kPackage = "google.cloud.aiplatform.";
/// The fields that name the resource in the path.
constexpr std::array<std::string_view, 3> kNames{"parent", "name", "trial_name"};

/// "google.cloud.aiplatform.v1.JobService.CreateCustomJob" takes a
/// google.cloud.aiplatform.v1.CreateCustomJobRequest.
std::string RequestType(std::string_view method_name) {
  const std::size_t method = method_name.rfind('.');
  const std::size_t service = method_name.rfind('.', method - 1);
  return std::string(method_name.substr(0, service)) + std::string(method_name.substr(method)) + "Request";
}

/// "/google.cloud.aiplatform.v1.JobService/CreateCustomJob".
std::string CallPath(std::string_view method_name) {
  std::string path = "/" + std::string(method_name);
  path[path.rfind('.')] = '/';
  return path;
}

Body BodyOf(std::string_view verb, std::string_view method_name) {
  if (verb != "POST") return Body::kNone;
  return method_name.substr(method_name.rfind('.') + 1).starts_with("Create") ? Body::kResource
                                                                              : Body::kWholeMessage;
}

using GrpcMethods = std::map<std::string, GrpcMethod, std::less<>>;

/// The methods by the paths of their calls, in version v1.
const GrpcMethods& AllGrpcMethods() {
  static const auto* const kMethods = [] {
    auto* methods = new GrpcMethods();
    for (const Route& row : VertexRoutes()) {
      const std::string_view route = row.rule.route;
      const std::string_view verb = route.substr(0, route.find(' '));
      GrpcMethod& method = (*methods)[CallPath(row.rule.method_name)];
      method.routes.push_back(route);
      method.verb = std::string(verb);
      method.suffix = std::string(route.substr(route.rfind('}') + 1));
      method.body = BodyOf(verb, row.rule.method_name);
      method.request =
          DescriptorPool::generated_pool()->FindMessageTypeByName(RequestType(row.rule.method_name));
      method.answer = row.form.answer();
    }
    return methods;
  }();
  return *kMethods;
}

/// Whether the path has as many segments as the route's pattern, and its fixed ones.
bool HasForm(std::string_view path, std::string_view pattern) {
  while (!path.empty() && !pattern.empty()) {
    const std::size_t path_end = std::min(path.find('/', 1), path.size());
    const std::size_t end = std::min(pattern.find('/', 1), pattern.size());
    const std::string_view segment = path.substr(0, path_end);
    const std::string_view wanted = pattern.substr(0, end);
    const std::size_t closed = wanted.rfind('}');
    const bool fits =
        closed == std::string_view::npos ? segment == wanted : segment.ends_with(wanted.substr(closed + 1));
    if (!fits) return false;
    path.remove_prefix(path_end);
    pattern.remove_prefix(end);
  }
  return path.empty() && pattern.empty();
}

bool IsName(const FieldDescriptor& field) {
  return std::ranges::find(kNames, std::string_view(field.name())) != kNames.end();
}

const FieldDescriptor* NameField(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i)
    if (IsName(*type.field(i))) return type.field(i);
  return nullptr;
}

const FieldDescriptor* ResourceField(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->message_type() != nullptr && field->message_type() != FieldMask::descriptor()) return field;
  }
  return nullptr;
}

/// The field's value as the query has it; empty for a message that is no field mask.
std::string QueryText(const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_INT32: return std::to_string(reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64: return std::to_string(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL: return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (const auto* const mask = dynamic_cast<const FieldMask*>(&reflection.GetMessage(message, &field)))
        return FieldMaskUtil::ToString(*mask);
      return "";
    default: return "";
  }
}

/// Nothing: the message cannot be read.
std::optional<GrpcParts> QueryParts(const Descriptor& type, std::string_view message) {
  const std::unique_ptr<Message> whole = NewMessage(type);
  if (message.size() > kGrpcQueryBytesMax ||
      !whole->ParseFromArray(message.data(), static_cast<int>(message.size())))
    return std::nullopt;
  GrpcParts parts;
  std::vector<const FieldDescriptor*> fields;
  whole->GetReflection()->ListFields(*whole, &fields);
  for (const FieldDescriptor* field : fields) {
    if (IsName(*field))
      parts.name = whole->GetReflection()->GetString(*whole, field);
    else
      parts.query += (parts.query.empty() ? "?" : "&") + std::string(field->json_name()) + "=" +
                     text::PercentEncode(QueryText(*whole, *field));
  }
  return parts;
}

/// Nothing: the message cannot be read. `resource` is null if the body is the whole message.
std::optional<GrpcParts> BodyParts(const Descriptor& type, const FieldDescriptor* resource,
                                   std::string_view message) {
  GrpcParts parts;
  parts.body = resource == nullptr ? &type : resource->message_type();
  if (resource == nullptr) parts.serialized = message;
  const FieldDescriptor* const name = NameField(type);
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    std::uint32_t size = 0;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
      continue;
    }
    if (!in.ReadVarint32(&size)) return std::nullopt;
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (size > message.size() - at || !in.Skip(static_cast<int>(size))) return std::nullopt;
    if (name != nullptr && number == name->number()) parts.name = message.substr(at, size);
    if (resource != nullptr && number == resource->number()) parts.serialized = message.substr(at, size);
  }
  if (!in.ConsumedEntireMessage()) return std::nullopt;
  return parts;
}

}  // namespace

bool GrpcMethod::HasPath(std::string_view path) const {
  return std::ranges::any_of(
      routes, [path](std::string_view route) { return HasForm(path, route.substr(route.find(' ') + 1)); });
}

std::optional<GrpcCall> FindGrpcCall(const std::string& path) {
  GrpcCall call{.version = "v1"};
  std::string in_v1 = path;
  for (const std::string_view version : {"v1", "v1beta1"}) {
    const std::string begin = "/" + std::string(kPackage) + std::string(version) + ".";
    if (!path.starts_with(begin)) continue;
    call.version = version;
    in_v1 = "/" + std::string(kPackage) + "v1." + path.substr(begin.size());
  }
  const auto found = AllGrpcMethods().find(in_v1);
  if (found == AllGrpcMethods().end()) return std::nullopt;
  call.method = &found->second;
  return call;
}

Result<GrpcParts> PartsOf(const GrpcMethod& method, std::string_view message) {
  const Descriptor& type = *method.request;
  std::optional<GrpcParts> parts;
  switch (method.body) {
    case Body::kNone: parts = QueryParts(type, message); break;
    case Body::kResource: parts = BodyParts(type, ResourceField(type), message); break;
    case Body::kWholeMessage: parts = BodyParts(type, nullptr, message); break;
  }
  if (parts) return *std::move(parts);
  return std::unexpected(
      InvalidArgument("", "The message is no " + std::string(type.name()) + " that can be read"));
}

std::unique_ptr<Message> NewMessage(const Descriptor& type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

std::string EncodedPath(std::string_view name) {
  std::string path;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    path += "/" + text::PercentEncode(name.substr(at, end - at));
    at = end + 1;
  }
  return path;
}

awaitable<Result<std::size_t>> MessageBody::ReadSome(std::span<std::byte> buffer) {
  if (!text_) {
    TY_CO_TRY(text_, Print());
  }
  co_return co_await text_->ReadSome(buffer);
}

Result<std::optional<http::TextBody>> MessageBody::Print() const {
  if (type_ == nullptr) return http::TextBody("{}");
  const std::unique_ptr<Message> message = NewMessage(*type_);
  std::string json;
  if (!message->ParseFromArray(serialized_.data(), static_cast<int>(serialized_.size())) ||
      !google::protobuf::util::MessageToJsonString(*message, &json).ok())
    return std::unexpected(
        InvalidArgument("", "The message is no " + std::string(type_->name()) + " that can be read"));
  return http::TextBody(std::move(json));
}

}  // namespace trainyard::api
