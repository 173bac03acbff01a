#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"

/// The web console: its files, which are part of the program (console/dist), and the redirects to it. It only
/// uses what any client may use: ConsoleRoutes. "ui" is too short for a bucket's name, so it hides no bucket.
/// Loop thread only.
namespace trainyard::api {

/// Whether the request comes from a browser that opens an address: it prefers HTML, and is not a request for
/// a metadata server. Pure.
[[nodiscard]] bool WantsPage(const http::Request& request);

/// Redirects a browser to the console.
[[nodiscard]] http::Response GoToConsole(std::string_view path = "/ui/");

/// The console's page for a page of Google's console: gcloud prints such addresses.
/// "/mlengine/jobs/J?project=P" -> "/ui/p/P/jobs/J"; "/logs?resource=ml_job%2Fjob_id%2FJ&project=P" -> its
/// log. Nothing: it is not such an address. Pure. Source: spec gcloud.md.
[[nodiscard]] std::optional<std::string> ConsolePathOf(const http::Request& request);

}  // namespace trainyard::api
