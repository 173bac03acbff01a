#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/system_parameters.h"
#include "net/http/router.h"
#include "rules/iam/method_table.h"

/// The API's routes, one row each: the required rights, the sockets, the query parameters and the function.
/// Each directory of src/api has one table. Loop thread only.
namespace trainyard::api {

/// The sockets on which a route is answered: a set.
enum class Where : std::uint16_t {
  kAdministration = 1,
  kReplicas = 2,
  kRefused = 4,  ///< refused to replicas, with an error that says what they may do (docs/adr/0022)
  kStorageFront = 8,
  kMetadataFront = 16,
  kFigures = 32,      ///< the listener for Prometheus
  kSupervisors = 64,  ///< the connections of attempts
  kLogin = 128,       ///< the administration and the metadata front, if callers have to log in
  kNoLogin = 256,     ///< the metadata front, if there is no authentication
};
constexpr Where operator|(Where one, Where other) {
  return static_cast<Where>(static_cast<unsigned>(one) | static_cast<unsigned>(other));
}
constexpr bool Meets(Where one, Where other) {
  return (static_cast<unsigned>(one) & static_cast<unsigned>(other)) != 0;
}

/// Combines sockets, for the tables.
inline constexpr Where kOutside = Where::kAdministration;
inline constexpr Where kOutsideOnly = Where::kAdministration | Where::kRefused;
inline constexpr Where kEverywhere = Where::kAdministration | Where::kReplicas;

/// Names a type, which may be only declared.
template <class T>
struct TypeTag {
  static constexpr char kId = 0;
};

/// The function that answers a route. It takes the request after at most two sources, which AddRoutes finds.
struct Call {
  using Reply = awaitable<Result<Response>>;
  Reply (*invoke)(void* first, void* second, http::Request& request) = nullptr;
  const char* first = nullptr;  ///< the source's type: TypeTag::kId; null: none
  const char* second = nullptr;
};

/// Declares functions that wait, and functions that answer immediately: Waits<JobService> GetJob, ListJobs;
template <class... Sources>
using Waits = boost::asio::awaitable<Result<http::Response>>(Sources&..., http::Request& request);
template <class... Sources>
using Answers = Result<http::Response>(Sources&..., http::Request& request);

[[nodiscard]] inline Call::Reply ReplyOf(Call::Reply reply) { return reply; }
[[nodiscard]] Call::Reply ReplyOf(Result<http::Response> answer);

template <auto kFunction, class R>
constexpr Call CallOf(R (*)(http::Request&)) {
  return {.invoke = [](void*, void*, http::Request& request) { return ReplyOf(kFunction(request)); }};
}
template <auto kFunction, class R, class A>
constexpr Call CallOf(R (*)(A&, http::Request&)) {
  return {
      .invoke = [](void* a, void*, http::Request& r) { return ReplyOf(kFunction(*static_cast<A*>(a), r)); },
      .first = &TypeTag<std::remove_const_t<A>>::kId};
}
template <auto kFunction, class R, class A, class B>
constexpr Call CallOf(R (*)(A&, B&, http::Request&)) {
  return {.invoke =
              [](void* a, void* b, http::Request& r) {
                return ReplyOf(kFunction(*static_cast<A*>(a), *static_cast<B*>(b), r));
              },
          .first = &TypeTag<std::remove_const_t<A>>::kId,
          .second = &TypeTag<std::remove_const_t<B>>::kId};
}
template <auto kFunction>
inline constexpr Call kCall = CallOf<kFunction>(kFunction);

/// The layer around the function: checks of the query, quotas, the form of errors.
struct Form : MethodForm {
  enum class Kind : std::uint8_t { kBare, kGoogle, kMl, kMlCreate, kStorage };
  Kind kind = Kind::kBare;
};
inline constexpr Form kBare{};
inline constexpr Form kStorage{{}, Form::Kind::kStorage};  ///< storage v1 reads its own parameters
/// WithSystemParameters. `parameters` are the method's own, separated by blanks.
template <class Message>
constexpr Form Json(std::string_view parameters = {}) {
  return {{.answer = &Message::descriptor, .parameters = parameters}, Form::Kind::kGoogle};
}
/// The same for a resource whose {project} may be "-".
template <class Message>
constexpr Form OfAnyProject(std::string_view parameters = {}) {
  return {{.answer = &Message::descriptor, .parameters = parameters, .any_project = true},
          Form::Kind::kGoogle};
}
/// The same for a stream.
constexpr Form Stream(std::string_view parameters) {
  return {{.parameters = parameters}, Form::Kind::kGoogle};
}
/// The same for the ml API, whose methods count against the project's quota (control::RequestQuota).
template <class Message>
constexpr Form Ml(std::string_view parameters = {}, Form::Kind kind = Form::Kind::kMl) {
  return {{.answer = &Message::descriptor, .parameters = parameters}, kind};
}

/// One row. Views of static text.
struct Route {
  iam::MethodRule rule;
  Where where;
  Form form;
  Call call;
};

/// The tables.
[[nodiscard]] std::span<const Route> MlRoutes();       ///< ml v1, tpu v1, a little of compute v1
[[nodiscard]] std::span<const Route> OwnRoutes();      ///< /trainyard/v1, and monitoring of the server
[[nodiscard]] std::span<const Route> StorageRoutes();  ///< storage v1, its XML form, folders
[[nodiscard]] std::span<const Route> LoggingRoutes();  ///< logging v2
[[nodiscard]] std::span<const Route> IamRoutes();      ///< identities: iam, resourcemanager, tokens, sessions
[[nodiscard]] std::span<const Route> MetadataRoutes();  ///< the metadata server
[[nodiscard]] std::span<const Route> ConsoleRoutes();   ///< the console's files and the ways to it
[[nodiscard]] std::span<const Route> VertexRoutes();    ///< aiplatform v1 and v1beta1
[[nodiscard]] std::span<const Route> SharedRoutes();    ///< batches and discovery documents
[[nodiscard]] std::vector<Route> AllRoutes();

/// Each route of the server, and the rights that it requires.
[[nodiscard]] const iam::MethodTable& Methods();

/// An object that functions are called with, and its type's name.
struct Source {
  const char* type;
  std::shared_ptr<void> object;
};
/// Outlives the router.
template <class T>
Source Lend(T& object) {
  return {&TypeTag<std::remove_const_t<T>>::kId,
          std::shared_ptr<void>(std::shared_ptr<void>(), const_cast<std::remove_const_t<T>*>(&object))};
}
/// Lives as long as the router.
template <class T>
Source Give(std::shared_ptr<T> object) {
  return {&TypeTag<T>::kId, std::move(object)};
}
template <class T>
Source Give(T object) {
  return Give(std::make_shared<T>(std::move(object)));
}

/// Adds the rows for these sockets whose sources are given; returns the names of those whose sources are not.
std::vector<std::string_view> AddRoutes(http::Router& router, std::span<const Route> rows, Where where,
                                        std::span<const Source> sources);
inline std::vector<std::string_view> AddRoutes(http::Router& router, std::span<const Route> rows, Where where,
                                               std::initializer_list<Source> sources) {
  return AddRoutes(router, rows, where, std::span(sources.begin(), sources.size()));
}

/// The same for all tables, and the refusals: storage's in its own form, and those to replicas. A CHECK fails
/// if a source is missing.
void AddAllRoutes(http::Router& router, Where where, std::span<const Source> sources);

/// Refuses to replicas what only the administration's API has: creating, changing and cancelling jobs, their
/// policies, shells, maintenance, status and metrics. kPermissionDenied, with a text that says what a replica
/// may do and where to do the rest. Unknown paths stay kNotFound. Source: docs/adr/0022.
void AddReplicaRefusals(http::Router& router);

/// A refusal by the access check in the form of the route's API: storage v1's own, the XML API's, otherwise
/// google.rpc.Status. @param route  as http::Router names it: "GET /storage/v1/b/{bucket}". Pure.
[[nodiscard]] http::Response RefusalAnswer(std::string_view route, const Error& error);

}  // namespace trainyard::api
