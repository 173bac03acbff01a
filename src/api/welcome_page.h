#pragma once

#include <string>
#include <string_view>

#include "http/router.h"

/// What a person sees who opens the server's address in a browser, until there is a console.
namespace trainyard::api {

/// Whether a request for "/" is a browser's: it would rather have HTML, and asks no metadata server. Pure.
[[nodiscard]] bool WantsPage(const http::Request& request);

/// The page: what this is, its version, the commands that go on. No scripts, and nothing from elsewhere.
[[nodiscard]] http::Response WelcomePage(std::string_view version);

/// `/favicon.ico`.
void AddIconRoute(http::Router& router);

}  // namespace trainyard::api
