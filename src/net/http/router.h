#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/message.h"

namespace trainyard::http {

/// Finds the handler of a request: a trie over the raw path's segments. Built once, then read only.
///
/// Patterns: "/v1/projects/{project}/jobs/{job}", with a custom verb
/// "/v1/projects/{project}/jobs/{job}:cancel" (split at the last ':' of the last segment), and "{rest=**}" as
/// last segment for all that remains. Literal segments win over parameters.
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  void Add(Method method, std::string_view pattern, Handler handler);
  /// The same by the route's name: "POST /v1/projects/{project}/jobs".
  void Add(std::string_view route, Handler handler);
  /// The same for a handler that only says that there is no such thing here.
  void AddRefusal(std::string_view route, Handler handler);

  /// One route, as Wrap and Visit show it.
  struct RouteInfo {
    std::string_view name;    ///< "POST /v1/projects/{project}/jobs"
    bool is_refusal = false;  ///< AddRefusal
  };

  /// Replaces each handler that was added so far by what `around` makes of it.
  void Wrap(const std::function<Handler(const RouteInfo& route, Handler)>& around);
  /// All routes that were added so far, in no order.
  void Visit(const std::function<void(const RouteInfo& route)>& visit) const;

  /// The handler, with request.parameters filled in; names the turn of the loop after it (NameLoopTask).
  /// kNotFound: no such path; kUnimplemented (answered as
  /// 405): the path exists for other methods.
  [[nodiscard]] Result<const Handler*> Find(Request& request) const;

  /// The route of the request alone; fills in request.parameters, too. Errors as Find.
  [[nodiscard]] Result<RouteInfo> FindRoute(Request& request) const;

  /// "GET, HEAD, PATCH": the methods that the request's path has; empty if there is no such path.
  [[nodiscard]] std::string Allowed(const Request& request) const;

 private:
  struct Node;
  void AddRoute(Method method, std::string_view pattern, Handler handler, bool is_refusal);
  std::unique_ptr<Node> root_;
};

}  // namespace trainyard::http
