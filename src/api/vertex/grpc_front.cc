#include "api/vertex/grpc_front.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/route.h"
#include "api/vertex/grpc_methods.h"
#include "base/async/on_pool.h"
#include "base/wire/error_body.h"
#include "google/cloud/resourcemanager/v3/projects.pb.h"
#include "google/rpc/status.pb.h"
#include "net/front/host_dispatch.h"
#include "net/grpc/grpc_session.h"
#include "net/http/incoming.h"

namespace trainyard::api {

namespace {

using google::protobuf::Descriptor;
namespace projects = google::cloud::resourcemanager::v3;

constexpr std::string_view kGetProject = "/google.cloud.resourcemanager.v3.Projects/GetProject";

/// The head of the request of REST that means the call.
http::RequestHead HeadOf(const GrpcCall& means, const GrpcParts& parts, const grpc::UnaryCall& call) {
  const bool is_by_host = front::ServiceOf(call.authority) == front::Service::kVertex;
  http::RequestHead head;
  head.method = means.method->verb;
  head.target = (is_by_host ? "" : std::string(front::kVertexPrefix)) + "/" + std::string(means.version) +
                EncodedPath(parts.name) + means.method->suffix + parts.query;
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
  const std::unique_ptr<google::protobuf::Message> message = NewMessage(type);
  const auto parsed = google::protobuf::util::JsonStringToMessage(*text, message.get());
  if (!parsed.ok()) return Failed(Internal("the answer cannot be written as " + std::string(type.name())));
  return {.status = 0, .text = {}, .details = {}, .message = message->SerializeAsString()};
}

/// A longer answer becomes a message on a thread of its own.
constexpr std::size_t kPrintedOnLoopMax = std::size_t{64} << 10;

/// The things that are needed to answer a call.
struct Front {
  const http::Router& router;
  http::Admit admit{};
  std::function<void(http::Request& request)> look_behind_proxy{};
  http::RequestCounts* counts = nullptr;
  grpc::GrpcOptions options{};
  boost::asio::thread_pool printer{1};
};

/// @param method  the only one whose routes may answer; null: any
awaitable<Result<Response>> Ask(const Front& front, http::RequestHead head, http::BodyReader& body,
                                const grpc::UnaryCall& call, const GrpcMethod* method) {
  head.headers = call.metadata;
  head.headers.Set("Host", call.authority);
  head.headers.Set("Content-Type", "application/json");
  head.minor_version = 1;
  auto request = http::MakeRequest(std::move(head), "https");
  if (!request) co_return std::unexpected(InvalidArgument("", request.error().reason));
  request->peer = call.peer;
  request->body = &body;
  if (front.look_behind_proxy) front.look_behind_proxy(*request);
  if (front.admit) TY_CO_RETURN_IF_ERROR(co_await front.admit(*request));
  const Error no_name =
      InvalidArgument("name", "The name in the message is not that of the method's resource");
  const http::Router& router = front.router;
  TY_CO_TRY(const http::Handler* handler, router.Find(*request));
  if (method != nullptr) {
    // A router by host has one route for everything: the path's own form is compared.
    const std::string path = request->path.starts_with(front::kVertexPrefix)
                                 ? request->path
                                 : std::string(front::kVertexPrefix) + request->path;
    if (!method->HasPath(path)) co_return std::unexpected(no_name);
  }
  co_return co_await (*handler)(*request);
}

/// cloudresourcemanager v3 by the project that v1 answers.
awaitable<grpc::Reply> GetProject(const Front& front, const grpc::UnaryCall& call) {
  projects::GetProjectRequest asked;
  constexpr std::string_view kBegin = "projects/";
  const bool is_name = call.message.size() <= kGrpcQueryBytesMax && asked.ParseFromString(call.message) &&
                       asked.name().starts_with(kBegin) &&
                       asked.name().find('/', kBegin.size()) == std::string::npos;
  if (!is_name) co_return Failed(InvalidArgument("name", "The name has the form projects/PROJECT"));
  http::RequestHead head;
  head.method = "GET";
  head.target = "/v1" + EncodedPath(asked.name());
  MessageBody body(nullptr, {});
  const Result<Response> response = co_await Ask(front, std::move(head), body, call, nullptr);
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

awaitable<grpc::Reply> ReplyTo(Front& front, const grpc::UnaryCall& call) {
  if (call.path == kGetProject) co_return co_await GetProject(front, call);
  const std::optional<GrpcCall> means = FindGrpcCall(call.path);
  // That name leads to another service's router, whose paths mean something else.
  const bool is_elsewhere = front::ServiceOf(call.authority) == front::Service::kStorage;
  if (!means || is_elsewhere)
    co_return Failed({Code::kUnimplemented, "This server does not have the method " + call.path, {}});
  const Result<GrpcParts> parts = PartsOf(*means->method, call.message);
  if (!parts) co_return Failed(parts.error());
  MessageBody body(parts->body, parts->serialized);
  http::RequestHead head = HeadOf(*means, *parts, call);
  const Result<Response> response = co_await Ask(front, std::move(head), body, call, means->method);
  const auto* const text = response ? std::get_if<std::string>(&response->body) : nullptr;
  const Descriptor& type = *means->method->answer;
  if (text == nullptr || text->size() <= kPrintedOnLoopMax) co_return ReplyOf(response, type);
  co_return co_await OnPool(front.printer, [&response, &type] { return ReplyOf(response, type); });
}

awaitable<grpc::Reply> Answer(Front& front, const grpc::UnaryCall& call) {
  grpc::Reply reply = co_await ReplyTo(front, call);
  if (front.counts != nullptr)
    front.counts->Add(reply.status == 0 ? 200 : wire::HttpStatus(static_cast<Code>(reply.status)));
  co_return reply;
}

}  // namespace

std::function<awaitable<void>(std::shared_ptr<http::Channel>)> GrpcFront(const http::Router& router,
                                                                         const http::ServerOptions& options) {
  const auto front =
      std::make_shared<Front>(router, options.admit, options.look_behind_proxy, options.counts);
  front->options.message_bytes_max = kGrpcMessageBytesMax;
  front->options.held_bytes_max = 4 * kGrpcMessageBytesMax;
  front->options.handler = [raw = front.get()](const grpc::UnaryCall& call) { return Answer(*raw, call); };
  return [front](std::shared_ptr<http::Channel> channel) {
    return grpc::Serve(std::move(channel), front->options);
  };
}

}  // namespace trainyard::api
