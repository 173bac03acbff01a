#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/message.h"
#include "net/http/text_body.h"

/// The methods of gRPC and the parts of their messages: which request of REST a call means. Loop thread only.
namespace trainyard::api {

/// The largest request, which is as large as a job may be by REST.
inline constexpr std::size_t kGrpcMessageBytesMax = std::size_t{1} << 20;
/// The largest message of a method whose request is only a path and a query.
inline constexpr std::size_t kGrpcQueryBytesMax = std::size_t{64} << 10;

/// The routes of VertexRoutes that a method names. Views of static text.
struct GrpcMethod {
  /// As google.api.http has it: `body: "RESOURCE"` of the methods that create something, `body: "*"`.
  enum class Body { kNone, kResource, kWholeMessage };
  std::vector<std::string_view> routes;  ///< several, if the method is about resources of several kinds
  std::string verb;
  std::string suffix;  ///< of the path, behind the resource's name: "/customJobs", ":cancel"
  Body body = Body::kNone;
  const google::protobuf::Descriptor* request = nullptr;
  const google::protobuf::Descriptor* answer = nullptr;

  /// Whether the path is one of a route.
  [[nodiscard]] bool HasPath(std::string_view path) const;
};

struct GrpcCall {
  const GrpcMethod* method = nullptr;
  std::string_view version;  ///< "v1" or "v1beta1"
};
/// @param path  "/google.cloud.aiplatform.v1.JobService/CreateCustomJob"
/// @return nullopt: it is none of this server's.
[[nodiscard]] std::optional<GrpcCall> FindGrpcCall(const std::string& path);

/// The parts of a call's message, before anybody has logged in: its body is not read yet. Views of the
/// message.
struct GrpcParts {
  std::string name;                                    ///< of the resource, or of its parent
  std::string query;                                   ///< "?pageSize=1"
  const google::protobuf::Descriptor* body = nullptr;  ///< the type of the body
  std::string_view serialized{};                       ///< the body
};
/// Reads only the top level of the message of a method with a body: a string, and a range of bytes.
/// kInvalidArgument: the message cannot be read.
[[nodiscard]] Result<GrpcParts> PartsOf(const GrpcMethod& method, std::string_view message);

[[nodiscard]] std::unique_ptr<google::protobuf::Message> NewMessage(const google::protobuf::Descriptor& type);

/// "/projects/p" for "projects/p". Each segment is encoded, so that a name is never more than a path.
[[nodiscard]] std::string EncodedPath(std::string_view name);

/// A body that is read from the call's message when the handler asks for it: after the login, the rights and
/// the quota. Printing a message of others may fail: it may be too deep, or have an Any of an unknown type.
class MessageBody final : public http::BodyReader {
 public:
  /// @param type  null: the body is an empty object
  /// @param serialized  outlives the body
  MessageBody(const google::protobuf::Descriptor* type, std::string_view serialized)
      : type_(type), serialized_(serialized) {}
  boost::asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override;

 private:
  [[nodiscard]] Result<std::optional<http::TextBody>> Print() const;

  const google::protobuf::Descriptor* type_;
  std::string_view serialized_;
  std::optional<http::TextBody> text_{};
};

}  // namespace trainyard::api
