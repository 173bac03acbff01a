#include "api/vertex/grpc_front.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/field_mask_util.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wire_format_lite.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/route.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "google/cloud/resourcemanager/v3/projects.pb.h"
#include "google/rpc/status.pb.h"
#include "net/front/google_names.h"
#include "net/front/host_dispatch.h"
#include "net/grpc/grpc_session.h"
#include "net/http/incoming.h"
#include "net/http/text_body.h"

namespace trainyard::api {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FieldMask;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::util::FieldMaskUtil;
using MessagePtr = std::unique_ptr<Message>;
namespace projects = google::cloud::resourcemanager::v3;

constexpr std::string_view kPackage = "google.cloud.aiplatform.";
constexpr std::string_view kGetProject = "/google.cloud.resourcemanager.v3.Projects/GetProject";

/// A route as gRPC names it.
struct Method {
  std::string_view route;
  std::string verb;
  std::string suffix;  ///< of the path, behind the resource's name: "/customJobs", ":cancel"
  const Descriptor* request = nullptr;
  const Descriptor* answer = nullptr;
};

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

/// The methods by the paths of their calls, in version v1.
const std::map<std::string, Method, std::less<>>& Methods() {
  static const auto* const kMethods = [] {
    auto* methods = new std::map<std::string, Method, std::less<>>();
    for (const Route& row : VertexRoutes()) {
      const std::string_view route = row.rule.route;
      const std::size_t blank = route.find(' ');
      methods->emplace(CallPath(row.rule.method_name),
                       Method{.route = route,
                              .verb = std::string(route.substr(0, blank)),
                              .suffix = std::string(route.substr(route.rfind('}') + 1)),
                              .request = DescriptorPool::generated_pool()->FindMessageTypeByName(
                                  RequestType(row.rule.method_name)),
                              .answer = row.form.answer()});
    }
    return methods;
  }();
  return *kMethods;
}

/// A call's path split into the one that Methods has and the version; no version: it is none of this
/// server's.
struct Versioned {
  std::string path;
  std::string_view version = "v1";
};
Versioned SplitVersion(const std::string& path) {
  for (const std::string_view version : {"v1", "v1beta1"}) {
    const std::string begin = "/" + std::string(kPackage) + std::string(version) + ".";
    if (path.starts_with(begin))
      return {.path = "/" + std::string(kPackage) + "v1." + path.substr(begin.size()), .version = version};
  }
  return {.path = path};
}

MessagePtr NewMessage(const Descriptor& type) {
  return MessagePtr(MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

/// Each segment encoded, so that a name is never more than a path.
std::string EncodedPath(std::string_view name) {
  std::string path;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    path += "/" + text::PercentEncode(name.substr(at, end - at));
    at = end + 1;
  }
  return path;
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

/// A body that is read from the call's message when the handler asks for it: after the login, the rights and
/// the quota. Printing a message of others may fail: it may be too deep, or have an Any of an unknown type.
class MessageBody final : public http::BodyReader {
 public:
  MessageBody(const Descriptor* type, std::string_view serialized) : type_(type), serialized_(serialized) {}
  awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override {
    if (!text_) {
      TY_CO_TRY(text_, Print());
    }
    co_return co_await text_->ReadSome(buffer);
  }

 private:
  [[nodiscard]] Result<std::optional<http::TextBody>> Print() const {
    if (type_ == nullptr) return http::TextBody("{}");
    const MessagePtr message = NewMessage(*type_);
    std::string json;
    if (!message->ParseFromArray(serialized_.data(), static_cast<int>(serialized_.size())) ||
        !google::protobuf::util::MessageToJsonString(*message, &json).ok())
      return std::unexpected(
          InvalidArgument("", "The message is no " + std::string(type_->name()) + " that can be read"));
    return http::TextBody(std::move(json));
  }

  const Descriptor* type_;  ///< null: the body is an empty object
  std::string_view serialized_;
  std::optional<http::TextBody> text_{};
};

/// The parts of a call's message, before anybody has logged in: the resource inside of it is not read yet.
struct CallParts {
  std::string name;                  ///< of the resource, or of its parent
  std::string query;                 ///< "?pageSize=1"
  const Descriptor* body = nullptr;  ///< the type of the resource
  std::string_view serialized{};     ///< the resource
};

/// The largest request, which is as large as a job may be by REST.
constexpr std::size_t kMessageBytesMax = std::size_t{1} << 20;
/// The largest message of a method whose request is only a path and a query.
constexpr std::size_t kQueryBytesMax = std::size_t{64} << 10;

const FieldDescriptor* BodyField(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->message_type() != nullptr && field->message_type() != FieldMask::descriptor()) return field;
  }
  return nullptr;
}

/// Of a method with a body, only the top level of the message is read: a string, and a range of bytes.
Result<CallParts> PartsOf(const Method& method, std::string_view message) {
  using google::protobuf::internal::WireFormatLite;
  const Error malformed =
      InvalidArgument("", "The message is no " + std::string(method.request->name()) + " that can be read");
  CallParts parts;
  const FieldDescriptor* const body = BodyField(*method.request);
  if (body == nullptr) {
    const MessagePtr whole = NewMessage(*method.request);
    if (message.size() > kQueryBytesMax ||
        !whole->ParseFromArray(message.data(), static_cast<int>(message.size())))
      return std::unexpected(malformed);
    std::vector<const FieldDescriptor*> fields;
    whole->GetReflection()->ListFields(*whole, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->name() == "name" || field->name() == "parent")
        parts.name = whole->GetReflection()->GetString(*whole, field);
      else
        parts.query += (parts.query.empty() ? "?" : "&") + std::string(field->json_name()) + "=" +
                       text::PercentEncode(QueryText(*whole, *field));
    }
    return parts;
  }
  const FieldDescriptor* const parent = method.request->FindFieldByName("parent");
  parts.body = body->message_type();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const bool is_bytes = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    std::uint32_t size = 0;
    if (!is_bytes) {
      if (!WireFormatLite::SkipField(&in, tag)) return std::unexpected(malformed);
      continue;
    }
    if (!in.ReadVarint32(&size)) return std::unexpected(malformed);
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (size > message.size() - at || !in.Skip(static_cast<int>(size))) return std::unexpected(malformed);
    if (parent != nullptr && number == parent->number()) parts.name = message.substr(at, size);
    if (number == body->number()) parts.serialized = message.substr(at, size);
  }
  if (!in.ConsumedEntireMessage()) return std::unexpected(malformed);
  return parts;
}

/// The head of the request of REST that means the call.
http::RequestHead HeadOf(const Method& method, std::string_view version, const CallParts& parts,
                         const grpc::UnaryCall& call) {
  const bool is_by_host = front::IsVertexHost(call.authority.substr(0, call.authority.rfind(':')));
  http::RequestHead head;
  head.method = method.verb;
  head.target = (is_by_host ? "" : std::string(front::kVertexPrefix)) + "/" + std::string(version) +
                EncodedPath(parts.name) + method.suffix + parts.query;
  return head;
}

grpc::Reply Failed(const Error& error) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(error.code));
  status.set_message(wire::FullMessage(error));
  return {.status = status.code(),
          .text = status.message(),
          .details = status.SerializeAsString(),
          .message = {}};
}

grpc::Reply ReplyOf(const Result<Response>& response, const Descriptor& type) {
  if (!response) return Failed(response.error());
  const auto* const text = std::get_if<std::string>(&response->body);
  if (text == nullptr) return Failed(Internal("the answer is no message"));
  if (response->status >= 400) return Failed(wire::ParseErrorBody(response->status, *text));
  const MessagePtr message = NewMessage(type);
  const auto parsed = google::protobuf::util::JsonStringToMessage(*text, message.get());
  if (!parsed.ok()) return Failed(Internal("the answer cannot be written as " + std::string(type.name())));
  return {.status = 0, .text = {}, .details = {}, .message = message->SerializeAsString()};
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

/// What answers calls.
struct Front {
  const http::Router& router;
  http::Admit admit;
  grpc::GrpcOptions options{};
};

/// @param route  the only one that may answer; empty: any
awaitable<Result<Response>> Ask(const Front& front, http::RequestHead head, http::BodyReader& body,
                                const grpc::UnaryCall& call, std::string_view route) {
  head.headers = call.metadata;
  head.headers.Set("Host", call.authority);
  head.headers.Set("Content-Type", "application/json");
  head.minor_version = 1;
  auto request = http::MakeRequest(std::move(head), "https");
  if (!request) co_return std::unexpected(InvalidArgument("", request.error().reason));
  request->peer = call.peer;
  request->body = &body;
  if (front.admit) TY_CO_RETURN_IF_ERROR(co_await front.admit(*request));
  const Error no_name =
      InvalidArgument("name", "The name in the message is not that of the method's resource");
  const http::Router& router = front.router;
  TY_CO_TRY(const http::Handler* handler, router.Find(*request));
  if (!route.empty()) {
    // A router by host has one route for everything: the path's own form is compared.
    const std::string_view pattern = route.substr(route.find(' ') + 1);
    const std::string path = request->path.starts_with(front::kVertexPrefix)
                                 ? request->path
                                 : std::string(front::kVertexPrefix) + request->path;
    if (!HasForm(path, pattern)) co_return std::unexpected(no_name);
  }
  co_return co_await (*handler)(*request);
}

/// cloudresourcemanager v3 by the project that v1 answers.
awaitable<grpc::Reply> GetProject(const Front& front, const grpc::UnaryCall& call) {
  projects::GetProjectRequest asked;
  constexpr std::string_view kBegin = "projects/";
  const bool is_name = call.message.size() <= kQueryBytesMax && asked.ParseFromString(call.message) &&
                       asked.name().starts_with(kBegin) &&
                       asked.name().find('/', kBegin.size()) == std::string::npos;
  if (!is_name) co_return Failed(InvalidArgument("name", "The name has the form projects/PROJECT"));
  http::RequestHead head;
  head.method = "GET";
  head.target = "/v1" + EncodedPath(asked.name());
  MessageBody body(nullptr, {});
  const Result<Response> response = co_await Ask(front, std::move(head), body, call, "");
  grpc::Reply reply = ReplyOf(response, *google::protobuf::Struct::descriptor());
  google::protobuf::Struct v1;
  if (reply.status != 0 || !v1.ParseFromString(reply.message)) co_return reply;
  projects::Project project;
  project.set_name("projects/" + (*v1.mutable_fields())["projectNumber"].string_value());
  project.set_project_id((*v1.mutable_fields())["projectId"].string_value());
  project.set_display_name((*v1.mutable_fields())["name"].string_value());
  project.set_state(projects::Project::ACTIVE);
  reply.message = project.SerializeAsString();
  co_return reply;
}

awaitable<grpc::Reply> Answer(const Front& front, const grpc::UnaryCall& call) {
  if (call.path == kGetProject) co_return co_await GetProject(front, call);
  const Versioned versioned = SplitVersion(call.path);
  const auto found = Methods().find(versioned.path);
  if (found == Methods().end())
    co_return Failed({Code::kUnimplemented, "This server does not have the method " + call.path, {}});
  const Method& method = found->second;
  const Result<CallParts> parts = PartsOf(method, call.message);
  if (!parts) co_return Failed(parts.error());
  MessageBody body(parts->body, parts->serialized);
  http::RequestHead head = HeadOf(method, versioned.version, *parts, call);
  co_return ReplyOf(co_await Ask(front, std::move(head), body, call, method.route), *method.answer);
}

}  // namespace

std::function<awaitable<void>(std::shared_ptr<http::Channel>)> GrpcFront(const http::Router& router,
                                                                         http::Admit admit) {
  const auto front = std::make_shared<Front>(Front{.router = router, .admit = std::move(admit)});
  front->options.message_bytes_max = kMessageBytesMax;
  front->options.held_bytes_max = 4 * kMessageBytesMax;
  front->options.handler = [raw = front.get()](const grpc::UnaryCall& call) { return Answer(*raw, call); };
  return [front](std::shared_ptr<http::Channel> channel) {
    return grpc::Serve(std::move(channel), front->options);
  };
}

}  // namespace trainyard::api
