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
/// last segment for the rest of the path. Literal segments win over parameters.
class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  void Add(Method method, std::string_view pattern, Handler handler);
  /// Adds a route by its name: "POST /v1/projects/{project}/jobs".
  void Add(std::string_view route, Handler handler);
  /// Adds a route whose handler only reports that this is not supported here.
  void AddRefusal(std::string_view route, Handler handler);

  /// One route, as passed to the callbacks of Wrap and Visit.
  struct RouteInfo {
    std::string_view name;    ///< "POST /v1/projects/{project}/jobs"
    bool is_refusal = false;  ///< AddRefusal
  };

  /// Replaces each handler that was added so far by the one that `around` makes of it.
  void Wrap(const std::function<Handler(const RouteInfo& route, Handler)>& around);
  /// All routes that were added so far, in no order.
  void Visit(const std::function<void(const RouteInfo& route)>& visit) const;

  /// Finds the handler and fills in request.parameters; names the loop's current turn after the route
  /// (NameLoopTask). kNotFound: no such path; kUnimplemented (sent as 405): the path exists for other
  /// methods.
  [[nodiscard]] Result<const Handler*> Find(Request& request) const;

  /// Finds only the route of the request; fills in request.parameters, too. Errors as for Find.
  [[nodiscard]] Result<RouteInfo> FindRoute(Request& request) const;

  /// "GET, HEAD, PATCH": the methods of the request's path; empty if there is no such path.
  [[nodiscard]] std::string Allowed(const Request& request) const;

 private:
  struct Node;
  void AddRoute(Method method, std::string_view pattern, Handler handler, bool is_refusal);
  std::unique_ptr<Node> root_;
};

}  // namespace trainyard::http
