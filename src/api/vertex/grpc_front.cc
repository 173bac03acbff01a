#include "api/vertex/grpc_front.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/field_mask_util.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/route.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/json.h"
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
                       Method{.verb = std::string(route.substr(0, blank)),
                              .suffix = std::string(route.substr(route.rfind('}') + 1)),
                              .request = DescriptorPool::generated_pool()->FindMessageTypeByName(
                                  RequestType(row.rule.method_name)),
                              .answer = row.form.answer()});
    }
    return methods;
  }();
  return *kMethods;
}

/// A call's path split into the one that Methods has and the version.
struct Versioned {
  std::string path;
  std::string version = "v1";
};
Versioned SplitVersion(std::string_view path) {
  const std::string begin = "/" + std::string(kPackage);
  if (!path.starts_with(begin)) return {.path = std::string(path)};
  const std::size_t end = path.find('.', begin.size());
  std::string version(path.substr(begin.size(), end - begin.size()));
  return {.path = begin + "v1" + std::string(path.substr(std::min(end, path.size()))),
          .version = std::move(version)};
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

/// The request of REST that means the call.
struct RestRequest {
  http::RequestHead head;
  std::string body;
};
RestRequest ToRest(const Method& method, const std::string& version, const Message& message,
                   const grpc::UnaryCall& call) {
  RestRequest rest;
  std::string name;
  std::string query;
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_mask = field->message_type() != nullptr && field->message_type() == FieldMask::descriptor();
    if (field->name() == "name" || field->name() == "parent") {
      name = message.GetReflection()->GetString(message, field);
    } else if (field->message_type() != nullptr && !is_mask) {
      rest.body = wire::PrintJsonCompact(message.GetReflection()->GetMessage(message, field));
    } else {
      query += (query.empty() ? "?" : "&") + std::string(field->json_name()) + "=" +
               text::PercentEncode(QueryText(message, *field));
    }
  }
  if (rest.body.empty() && method.verb == "POST") rest.body = "{}";
  const bool is_by_host = front::IsVertexHost(call.authority.substr(0, call.authority.rfind(':')));
  rest.head.method = method.verb;
  rest.head.target = (is_by_host ? "" : std::string(front::kVertexPrefix)) + "/" + version +
                     EncodedPath(name) + method.suffix + query;
  return rest;
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

/// What answers calls.
struct Front {
  const http::Router& router;
  http::Admit admit;
  grpc::GrpcOptions options{};
};

awaitable<Result<Response>> Ask(const Front& front, RestRequest rest, const grpc::UnaryCall& call) {
  rest.head.headers = call.metadata;
  rest.head.headers.Set("Host", call.authority);
  rest.head.headers.Set("Content-Type", "application/json");
  rest.head.minor_version = 1;
  http::TextBody body(std::move(rest.body));
  auto request = http::MakeRequest(std::move(rest.head), "https");
  if (!request) co_return std::unexpected(InvalidArgument("name", request.error().reason));
  request->peer = call.peer;
  request->body = &body;
  if (front.admit) TY_CO_RETURN_IF_ERROR(co_await front.admit(*request));
  TY_CO_TRY(const http::Handler* handler, front.router.Find(*request));
  co_return co_await (*handler)(*request);
}

/// cloudresourcemanager v3 by the project that v1 answers.
awaitable<grpc::Reply> GetProject(const Front& front, grpc::UnaryCall& call) {
  projects::GetProjectRequest asked;
  if (!asked.ParseFromString(call.message) || !asked.name().starts_with("projects/"))
    co_return Failed(InvalidArgument("name", "The name has the form projects/PROJECT"));
  RestRequest rest{.head = {}, .body = {}};
  rest.head.method = "GET";
  rest.head.target = "/v1" + EncodedPath(asked.name());
  const Result<Response> response = co_await Ask(front, std::move(rest), call);
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

awaitable<grpc::Reply> Answer(const Front& front, grpc::UnaryCall& call) {
  if (call.path == kGetProject) co_return co_await GetProject(front, call);
  const Versioned versioned = SplitVersion(call.path);
  const auto found = Methods().find(versioned.path);
  if (found == Methods().end())
    co_return Failed({Code::kUnimplemented, "This server does not have the method " + call.path, {}});
  const Method& method = found->second;
  const MessagePtr message = NewMessage(*method.request);
  if (!message->ParseFromString(call.message))
    co_return Failed(InvalidArgument("", "The message is no " + std::string(method.request->name())));
  RestRequest rest = ToRest(method, versioned.version, *message, call);
  co_return ReplyOf(co_await Ask(front, std::move(rest), call), *method.answer);
}

}  // namespace

std::function<awaitable<void>(std::shared_ptr<http::Channel>)> GrpcFront(const http::Router& router,
                                                                         http::Admit admit) {
  const auto front = std::make_shared<Front>(Front{.router = router, .admit = std::move(admit)});
  front->options.handler = [raw = front.get()](grpc::UnaryCall& call) { return Answer(*raw, call); };
  return [front](std::shared_ptr<http::Channel> channel) {
    return grpc::Serve(std::move(channel), front->options);
  };
}

}  // namespace trainyard::api
