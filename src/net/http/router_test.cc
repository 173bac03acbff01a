#include "net/http/router.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <string>

namespace trainyard::http::router_test {
namespace {

asio::awaitable<Result<Response>> Name(std::string name) { co_return Response::Text(std::move(name)); }

Router MakeRouter() {
  Router router;
  const auto add = [&router](Method method, const char* pattern) {
    std::string name = pattern;
    router.Add(method, pattern, [name](Request&) { return Name(name); });
  };
  add(Method::kGet, "/");
  add(Method::kGet, "/healthz");
  add(Method::kGet, "/$discovery/rest");
  add(Method::kGet, "/v1/projects/{project}/jobs");
  add(Method::kPost, "/v1/projects/{project}/jobs");
  add(Method::kGet, "/v1/projects/{project}/jobs/{job}");
  add(Method::kPost, "/v1/projects/{name}/jobs/{id}:cancel");
  add(Method::kGet, "/v1/projects/{project}:getConfig");
  add(Method::kPost, "/v2/entries:list");
  add(Method::kGet, "/storage/v1/b/{bucket}/o/{object}");
  add(Method::kPost, "/storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object}");
  add(Method::kGet, "/storage/v1/b/fixed/o");
  add(Method::kGet, "/{bucket}/{object=**}");
  return router;
}

/// "PATTERN name=value ..." for the route that was found, or the error code's name.
std::string Find(const Router& router, Method method, std::string path) {
  Request request;
  request.method = method;
  request.path = std::move(path);
  const Result<const Handler*> found = router.Find(request);
  if (!found) return std::string(CodeName(found.error().code));
  boost::asio::io_context loop;
  std::string text;
  boost::asio::co_spawn(loop, (**found)(request),
                        [&text](const std::exception_ptr&, Result<Response> response) {
                          text = std::get<std::string>(response->body);
                        });
  loop.run();
  for (const auto& [name, value] : request.parameters)
    text.append(" ").append(name).append("=").append(value);
  return text;
}

struct Row {
  const char* name;
  Method method;
  const char* path;
  const char* found;
};

class RouterFind : public testing::TestWithParam<Row> {};

TEST_P(RouterFind, Finds) {
  EXPECT_EQ(Find(MakeRouter(), GetParam().method, GetParam().path), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, RouterFind,
    testing::Values(
        Row{"root", Method::kGet, "/", "/"}, Row{"literal", Method::kGet, "/healthz", "/healthz"},
        Row{"dollar", Method::kGet, "/$discovery/rest", "/$discovery/rest"},
        Row{"parameters", Method::kGet, "/v1/projects/p/jobs/j",
            "/v1/projects/{project}/jobs/{job} project=p job=j"},
        Row{"own_names", Method::kPost, "/v1/projects/p/jobs/j:cancel",
            "/v1/projects/{name}/jobs/{id}:cancel name=p id=j"},
        Row{"unknown_verb", Method::kPost, "/v1/projects/p/jobs/j:explode", "UNIMPLEMENTED"},
        Row{"verb_of_parameter", Method::kGet, "/v1/projects/p:getConfig",
            "/v1/projects/{project}:getConfig project=p"},
        Row{"verb_of_literal", Method::kPost, "/v2/entries:list", "/v2/entries:list"},
        Row{"decoded_after_splitting", Method::kGet, "/storage/v1/b/B/o/a%2Fb%3Ac",
            "/storage/v1/b/{bucket}/o/{object} bucket=B object=a/b:c"},
        Row{"colon_where_no_verbs_are", Method::kGet, "/storage/v1/b/B/o/a:b",
            "/storage/v1/b/{bucket}/o/{object} bucket=B object=a:b"},
        Row{"deep", Method::kPost, "/storage/v1/b/B/o/x/rewriteTo/b/C/o/y",
            "/storage/v1/b/{bucket}/o/{object}/rewriteTo/b/{to_bucket}/o/{to_object} bucket=B object=x "
            "to_bucket=C to_object=y"},
        Row{"back_from_a_dead_end", Method::kGet, "/storage/v1/b/fixed/o/x",
            "/storage/v1/b/{bucket}/o/{object} bucket=fixed object=x"},
        Row{"rest", Method::kGet, "/B/a/b%20c/d", "/{bucket}/{object=**} bucket=B object=a/b c/d"},
        Row{"head_is_get", Method::kHead, "/healthz", "/healthz"},
        Row{"other_method", Method::kDelete, "/healthz", "UNIMPLEMENTED"},
        Row{"no_such_path", Method::kGet, "/nothing", "NOT_FOUND"},
        Row{"empty_parameter", Method::kGet, "/v1/projects//jobs",
            "/{bucket}/{object=**} bucket=v1 object=projects//jobs"},
        Row{"bad_encoding", Method::kGet, "/v1/projects/p/jobs/%zz", "INVALID_ARGUMENT"},
        Row{"relative", Method::kGet, "*", "NOT_FOUND"}),
    [](const auto& row) { return row.param.name; });

asio::awaitable<Result<Response>> Around(const Handler& inner, Request& request) {
  TY_CO_TRY(Response response, co_await inner(request));
  std::get<std::string>(response.body) += " wrapped";
  co_return response;
}

TEST(Router, WrapsEachHandlerOnce) {
  Router router = MakeRouter();
  router.Wrap([](const Router::RouteInfo&, Handler inner) -> Handler {
    return [inner = std::move(inner)](Request& request) { return Around(inner, request); };
  });
  for (const char* path :
       {"/", "/healthz", "/$discovery/rest", "/v1/projects/{project}/jobs", "/v1/projects/p/jobs/j",
        "/v1/projects/p:getConfig", "/storage/v1/b/b/o/o", "/storage/v1/b/fixed/o", "/bucket/a/b"}) {
    const std::string found = Find(router, Method::kGet, path);
    EXPECT_NE(found.find(" wrapped"), std::string::npos) << path << ": " << found;
    EXPECT_EQ(found.find(" wrapped"), found.rfind(" wrapped")) << path;
  }
  EXPECT_EQ(Find(router, Method::kPost, "/v2/entries:list"), "/v2/entries:list wrapped");
  EXPECT_EQ(Find(router, Method::kDelete, "/healthz"), "UNIMPLEMENTED");
}

TEST(Router, ShowsItsRoutes) {
  Router router;
  router.Add(Method::kGet, "/v1/things/{thing}:look", Handler());
  router.AddRefusal("POST /v1/{rest=**}", Handler());
  std::map<std::string, bool> refusals;
  router.Visit(
      [&refusals](const Router::RouteInfo& route) { refusals[std::string(route.name)] = route.is_refusal; });
  EXPECT_EQ(refusals, (std::map<std::string, bool>{{"GET /v1/things/{thing}:look", false},
                                                   {"POST /v1/{rest=**}", true}}));
  Request request;
  request.method = Method::kGet;
  request.path = "/v1/things/a%2Fb:look";
  const auto found = router.FindRoute(request);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "GET /v1/things/{thing}:look");
  EXPECT_EQ(request.Parameter("thing"), "a/b");
}

TEST(Router, KnowsWhichMethodsAPathHas) {
  const Router router = MakeRouter();
  const auto allowed = [&router](std::string path) {
    Request request;
    request.path = std::move(path);
    return router.Allowed(request);
  };
  EXPECT_EQ(allowed("/v1/projects/p/jobs"), "GET, HEAD, POST");
  EXPECT_EQ(allowed("/v1/projects/p/jobs/j:cancel"), "POST");
  EXPECT_EQ(allowed("/v1"), "");
  EXPECT_EQ(allowed("*"), "");
}

}  // namespace
}  // namespace trainyard::http::router_test
