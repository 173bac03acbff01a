#include "stores/identity/first_administrator.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "rules/iam/principal.h"

namespace trainyard::identity {

namespace {

/// The token without its line end; empty: there is none.
std::string ReadToken(const std::string& file) {
  Result<std::string> text = ReadFile(file);
  if (!text) return {};
  while (text->ends_with('\n') || text->ends_with(' ')) text->pop_back();
  return *std::move(text);
}

}  // namespace

boost::asio::awaitable<Status> EnsureAdminToken(Identities& identities, std::string file) {
  const std::string present = ReadToken(file);
  if (!present.empty()) {
    const Result<iam::Login> login = identities.CheckToken(present);
    if (login && login->principal == iam::kAdministrator) co_return Status();
  }
  Identities::NewToken wanted{.principal = std::string(iam::kAdministrator),
                              .life = std::nullopt,
                              .description = "first administrator: DATA/admin-token",
                              .issuer = "trainyard serve"};
  TY_CO_TRY(const Identities::IssuedToken made, co_await identities.MakeToken(std::move(wanted)));
  TY_CO_RETURN_IF_ERROR(WriteFileAtomically(file, made.text + "\n", 0600));
  if (::isatty(STDERR_FILENO) == 0) {  // stderr is then probably a log, which others may read
    Diagnose(DiagnosticLevel::kInfo, "the administrator's token is in " + file);
  } else {
    std::fprintf(stderr, "the administrator's token (also in %s): %s\n", file.c_str(), made.text.c_str());
  }
  co_return Status();
}

}  // namespace trainyard::identity
