#pragma once

#include <functional>
#include <string>

#include "http/router.h"

namespace trainyard::api {

/// What a Google client asks the metadata server of its machine when it has no other credentials: enough for
/// `google.auth.default()` to find a project, an account and a token that is valid only here, and
/// the universe domain under which it then looks for `ml.DOMAIN`. Paths: spec environment.md section 11,
/// wire.md section 2.
struct MetadataAnswers {
  std::string project;
  /// "localhost:PORT" of the TLS listener; a function, because the port is known only once it listens.
  std::function<std::string()> universe_domain;
  /// A new access token for requests with this host name (the Host field), or why there is none.
  std::function<boost::asio::awaitable<Result<std::string>>(const std::string& host)> access_token;
  std::string version = {};  ///< for the page that a browser gets at "/" (welcome_page.h); empty: none
};

void AddMetadataRoutes(http::Router& router, MetadataAnswers answers);

/// `/healthz`: "ok" while the loop runs.
void AddHealthRoute(http::Router& router);

}  // namespace trainyard::api
