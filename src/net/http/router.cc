#include "net/http/router.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/async/watched_executor.h"
#include "base/check.h"
#include "net/http/uri.h"

namespace trainyard::http {

namespace {

struct Route {
  Handler handler;
  std::vector<std::string> names;  ///< of the parameters, in order
  std::string name;                ///< "GET /v1/{name=**}"
  bool is_refusal = false;

  [[nodiscard]] Router::RouteInfo Info() const { return {.name = name, .is_refusal = is_refusal}; }
};

/// The handlers of one path, or of one custom verb of it.
struct Routes {
  std::array<std::optional<Route>, kMethodCount> by_method;
  bool any = false;

  [[nodiscard]] const Route* Find(Method method) const {
    const auto& route = by_method[static_cast<std::size_t>(method)];
    if (route) return &*route;
    // A HEAD is answered by the GET handler; the connection leaves the body out.
    return method == Method::kHead ? Find(Method::kGet) : nullptr;
  }
};

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return segments;
  while (true) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

Method MethodOf(std::string_view route) {
  const std::optional<Method> method = ParseMethod(route.substr(0, route.find(' ')));
  TY_CHECK(method.has_value());
  return *method;
}

std::string_view PatternOf(std::string_view route) { return route.substr(route.find(' ') + 1); }

bool IsParameter(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }

}  // namespace

struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> parameter;
  Routes rest;  ///< "{name=**}" below this node
  Routes here;
  std::map<std::string, Routes, std::less<>> verbs;  ///< "segment:verb"

  struct Match {
    const Routes* routes = nullptr;
    std::vector<std::string_view> values;  ///< raw, in order
  };

  void Visit(const std::function<void(Route& route)>& visit);
  [[nodiscard]] bool FindPath(std::string_view path, Match& match) const {
    return path.starts_with('/') && Find(SplitPath(path), match);
  }
  [[nodiscard]] bool Find(std::span<const std::string_view> segments, Match& match) const;
  [[nodiscard]] bool FindLast(const std::string_view segment, Match& match) const;
  [[nodiscard]] bool FindRest(std::span<const std::string_view> segments, Match& match) const;
};

void Router::Node::Visit(const std::function<void(Route& route)>& visit) {
  const auto visit_all = [&visit](Routes& routes) {
    for (std::optional<Route>& route : routes.by_method) {
      if (route) visit(*route);
    }
  };
  visit_all(rest);
  visit_all(here);
  for (auto& [verb, routes] : verbs) visit_all(routes);
  for (auto& [segment, node] : literals) node->Visit(visit);
  if (parameter != nullptr) parameter->Visit(visit);
}

/// Tries the literal, then the parameter, then the rest; goes back from a branch without a match.
bool Router::Node::Find(std::span<const std::string_view> segments, Match& match) const {
  if (segments.empty()) {
    match.routes = &here;
    return here.any;
  }
  if (segments.size() == 1 && FindLast(segments[0], match)) return true;
  if (segments.size() > 1) {
    const auto literal = literals.find(segments[0]);
    if (literal != literals.end() && literal->second->Find(segments.subspan(1), match)) return true;
    if (parameter != nullptr && !segments[0].empty()) {
      match.values.push_back(segments[0]);
      if (parameter->Find(segments.subspan(1), match)) return true;
      match.values.pop_back();
    }
  }
  return FindRest(segments, match);
}

bool Router::Node::FindLast(const std::string_view segment, Match& match) const {
  const std::size_t colon = segment.rfind(':');
  const auto matches = [&](const Node& node, std::string_view& name) {
    // If a path has verbs, a colon always separates one; otherwise it belongs to the name.
    const bool has_verb = colon != std::string_view::npos && !node.verbs.empty();
    name = has_verb ? segment.substr(0, colon) : segment;
    const auto verb = has_verb ? node.verbs.find(segment.substr(colon + 1)) : node.verbs.end();
    if (has_verb) match.routes = verb == node.verbs.end() ? nullptr : &verb->second;
    if (!has_verb) match.routes = node.here.any ? &node.here : nullptr;
    return match.routes != nullptr;
  };
  std::string_view name;
  for (const std::string_view key : {segment, segment.substr(0, colon)}) {
    const auto literal = literals.find(key);
    if (literal != literals.end() && matches(*literal->second, name) && name == key) return true;
  }
  if (parameter == nullptr || !matches(*parameter, name) || name.empty()) return false;
  match.values.push_back(name);
  return true;
}

bool Router::Node::FindRest(std::span<const std::string_view> segments, Match& match) const {
  const char* begin = segments.front().data();
  const char* end = segments.back().data() + segments.back().size();
  if (!rest.any || begin == end) return false;
  match.values.emplace_back(begin, end);
  match.routes = &rest;
  return true;
}

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::Add(Method method, std::string_view pattern, Handler handler) {
  AddRoute(method, pattern, std::move(handler), false);
}

void Router::Add(std::string_view route, Handler handler) {
  AddRoute(MethodOf(route), PatternOf(route), std::move(handler), false);
}

void Router::AddRefusal(std::string_view route, Handler handler) {
  AddRoute(MethodOf(route), PatternOf(route), std::move(handler), true);
}

void Router::AddRoute(Method method, std::string_view pattern, Handler handler, bool is_refusal) {
  TY_CHECK(pattern.starts_with('/'));
  std::vector<std::string_view> segments = SplitPath(pattern);
  std::string_view verb;
  if (!segments.empty()) {
    std::string_view& last = segments.back();
    const std::size_t colon = last.rfind(':');
    if (colon != std::string_view::npos) {
      verb = last.substr(colon + 1);
      last = last.substr(0, colon);
    }
  }
  Node* node = root_.get();
  Route route{
      std::move(handler), {}, std::string(MethodName(method)).append(" ").append(pattern), is_refusal};
  Routes* routes = nullptr;
  for (const std::string_view segment : segments) {
    TY_CHECK(routes == nullptr);  // "{name=**}" is the last segment
    if (!IsParameter(segment)) {
      auto& next = node->literals[std::string(segment)];
      if (next == nullptr) next = std::make_unique<Node>();
      node = next.get();
    } else if (segment.ends_with("=**}")) {
      route.names.emplace_back(segment.substr(1, segment.size() - 5));
      routes = &node->rest;
    } else {
      route.names.emplace_back(segment.substr(1, segment.size() - 2));
      if (node->parameter == nullptr) node->parameter = std::make_unique<Node>();
      node = node->parameter.get();
    }
  }
  if (routes == nullptr) routes = verb.empty() ? &node->here : &node->verbs[std::string(verb)];
  auto& slot = routes->by_method[static_cast<std::size_t>(method)];
  TY_CHECK(!slot.has_value());  // two handlers for one route
  slot = std::move(route);
  routes->any = true;
}

void Router::Wrap(const std::function<Handler(const RouteInfo& route, Handler)>& around) {
  root_->Visit([&around](Route& route) { route.handler = around(route.Info(), std::move(route.handler)); });
}

void Router::Visit(const std::function<void(const RouteInfo& route)>& visit) const {
  root_->Visit([&visit](const Route& route) { visit(route.Info()); });
}

namespace {

/// The matching route, with its parameters in the request.
template <class Node>
Result<const Route*> RouteOf(const Node& root, Request& request) {
  typename Node::Match match;
  if (!root.FindPath(request.path, match))
    return std::unexpected(NotFound("The requested URL " + request.path + " was not found on this server."));
  const Route* route = match.routes->Find(request.method);
  if (route == nullptr) {
    return std::unexpected(Error{Code::kUnimplemented, "The method is not allowed for " + request.path, ""});
  }
  request.parameters.clear();
  for (std::size_t i = 0; i < route->names.size(); ++i) {
    TY_TRY(std::string value, PercentDecode(match.values[i]));
    request.parameters.emplace_back(route->names[i], std::move(value));
  }
  return route;
}

}  // namespace

Result<const Handler*> Router::Find(Request& request) const {
  TY_TRY(const Route* route, RouteOf(*root_, request));
  NameLoopTask(route->name);
  return &route->handler;
}

Result<Router::RouteInfo> Router::FindRoute(Request& request) const {
  TY_TRY(const Route* route, RouteOf(*root_, request));
  return route->Info();
}

std::string Router::Allowed(const Request& request) const {
  Node::Match match;
  if (!root_->FindPath(request.path, match)) return {};
  std::string allowed;
  for (std::size_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    if (match.routes->Find(method) != nullptr)
      allowed.append(allowed.empty() ? "" : ", ").append(MethodName(method));
  }
  return allowed;
}

}  // namespace trainyard::http
