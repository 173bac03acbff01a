#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"

/// The web console: its files, which are part of the program (console/dist), and the ways into it. It asks
/// nothing but what any client may ask: ConsoleRoutes. "ui" is too short for a bucket's name, so none is
/// hidden by it. Loop thread only.
namespace trainyard::api {

/// Whether a request is a browser's that opens an address: it would rather have HTML, and asks no metadata
/// server. Pure.
[[nodiscard]] bool WantsPage(const http::Request& request);

/// Sends a browser into the console.
[[nodiscard]] http::Response GoToConsole(std::string_view path = "/ui/");

/// Where the console shows what a page of Google's console would have: gcloud prints such addresses.
/// "/mlengine/jobs/J?project=P" -> "/ui/p/P/jobs/J"; "/logs?resource=ml_job%2Fjob_id%2FJ&project=P" -> its
/// log. Nothing: it is no such address. Pure. Source: spec gcloud.md.
[[nodiscard]] std::optional<std::string> ConsolePathOf(const http::Request& request);

}  // namespace trainyard::api
