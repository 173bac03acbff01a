#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

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

  /// Replaces each handler that was added so far by what `around` makes of it.
  void Wrap(const std::function<Handler(Handler)>& around);

  /// The handler, with request.parameters filled in; names the turn of the loop after it (NameLoopTask).
  /// kNotFound: no such path; kUnimplemented (answered as
  /// 405): the path exists for other methods.
  [[nodiscard]] Result<const Handler*> Find(Request& request) const;

  /// "GET, HEAD, PATCH": the methods that the request's path has; empty if there is no such path.
  [[nodiscard]] std::string Allowed(const Request& request) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
};

}  // namespace trainyard::http
