#include "api/welcome_page.h"

#include <utility>

#include "http/text.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;

constexpr std::string_view kBegin = R"html(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Trainyard</title>
<h1>Trainyard )html";
constexpr std::string_view kRest = R"html(</h1>
<p>This is a training service: it speaks the API of AI Platform Training (ml v1), Cloud Storage (storage v1)
and Cloud Logging (logging v2). It has no console yet; it is used by commands and client libraries.</p>
<dl>
<dt><code>eval "$(trainyard env)"</code></dt>
<dd>points gcloud, gsutil and client libraries in this shell at the server</dd>
<dt><code>trainyard with -- COMMAND</code></dt>
<dd>runs any client, of any age, with Google's host names meaning this server</dd>
<dt><code>trainyard jobs list</code></dt>
<dd>lists the jobs; <code>trainyard jobs submit training --help</code> says how to submit one</dd>
<dt><code>trainyard help</code></dt>
<dd>lists all commands</dd>
</dl>
<p>For programs: <a href="/discovery/v1/apis">the descriptions of the APIs</a>,
<a href="/healthz">whether the server is up</a>, <a href="/metrics">its figures</a>.</p>
</html>
)html";
constexpr std::string_view kIcon =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#3367d6" )"
    R"(d="M2 2h12v3H2zM6.5 5h3v9h-3z"/></svg>)";
constexpr const char* kPolicy =
    "default-src 'none'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Response Guarded(std::string text, const char* type) {
  Response response = Response::Text(std::move(text));
  response.headers.Set("Content-Type", type);
  response.headers.Set("Content-Security-Policy", kPolicy);
  response.headers.Set("X-Content-Type-Options", "nosniff");
  response.headers.Set("Referrer-Policy", "no-referrer");
  response.headers.Set("Vary", "Accept");
  return response;
}

awaitable<Result<Response>> Icon(Request& /*request*/) {
  co_return Guarded(std::string(kIcon), "image/svg+xml");
}

}  // namespace

bool WantsPage(const Request& request) {
  if (request.headers.Has("Metadata-Flavor")) return false;
  bool wants = false;
  http::ForEachElement(request.headers.Get("Accept"), [&wants](std::string_view element) {
    wants = wants || element.substr(0, element.find_first_of("; ")) == "text/html";
  });
  return wants;
}

Response WelcomePage(std::string_view version) {
  return Guarded(std::string(kBegin).append(version).append(kRest), "text/html; charset=utf-8");
}

void AddIconRoute(http::Router& router) { router.Add(http::Method::kGet, "/favicon.ico", Icon); }

}  // namespace trainyard::api
