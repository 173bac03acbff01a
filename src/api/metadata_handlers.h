#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "http/router.h"

namespace trainyard::api {

/// What a Google client asks the metadata server of its machine when it has no other credentials: enough for
/// `google.auth.default()` to find a project, an account and a token that is worth something only here, and
/// the universe domain under which it then looks for `ml.DOMAIN`. Paths: spec environment.md section 11,
/// wire.md section 2.
struct MetadataAnswers {
  std::string project;
  /// "localhost:PORT" of the TLS listener; asked late, because the port is known only when it listens.
  std::function<std::string()> universe_domain;
  /// The token for who asks under this host name (the Host field).
  std::function<std::string(std::string_view host)> access_token;
};

void AddMetadataRoutes(http::Router& router, MetadataAnswers answers);

/// `POST /token` of oauth2.googleapis.com: programs that bring a service account's key ask it for a token.
/// Whatever they sign, they get one that is worth something only here.
void AddTokenRoute(http::Router& router, std::function<std::string(std::string_view host)> access_token);

/// `/healthz`: "ok" while the loop turns.
void AddHealthRoute(http::Router& router);

}  // namespace trainyard::api
