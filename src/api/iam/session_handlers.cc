#include "api/iam/identity_handlers.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/iam/iam_request.h"
#include "api/iam/token_handlers.h"
#include "base/clock.h"
#include "base/wire/error_body.h"
#include "base/wire/time.h"
#include "control/job_service.h"
#include "control/run/keys.h"
#include "net/access/door.h"
#include "net/access/failed_logins.h"
#include "net/access/session_cookie.h"
#include "rules/iam/refusal.h"
#include "trainyard/control/v1/session.pb.h"

namespace trainyard::api {

namespace {

using identity::Identities;
using identity::Login;
using std::chrono::seconds;

/// By the request's token, otherwise by its cookie.
awaitable<Result<Login>> WhoAsks(const Sessions& parts, const Request& request) {
  if (!parts.auth) co_return std::unexpected(iam::NotLoggedIn());
  std::string token = BearerToken(request);
  if (!token.empty()) co_return co_await parts.identities.Check(std::move(token), parts.own_audiences);
  TY_CO_TRY(const std::string cookie, access::SessionToken(request));
  if (cookie.empty()) co_return std::unexpected(iam::NotLoggedIn());
  co_return parts.identities.CheckSession(cookie);
}

awaitable<control::v1::Session> Describe(const Sessions& parts, const Login* login) {
  control::v1::Session session;
  session.set_authentication(parts.auth);
  session.set_version(parts.version);
  if (login != nullptr) {
    session.set_principal(login->principal);
    if (login->expires) *session.mutable_expire_time() = wire::ToProto(*login->expires);
  }
  if (login != nullptr || !parts.auth)
    session.set_default_project(co_await parts.newest_project(session.principal()));
  co_return session;
}

constexpr int kOk = 200;
constexpr std::string_view kBegin = "trainyard.v1.Sessions.Create";
constexpr std::string_view kEnd = "trainyard.v1.Sessions.Delete";
constexpr std::string_view kRead = "trainyard.v1.Sessions.Get";

/// The general access check does not audit this route, because the caller is not identified before.
void Audit(const Sessions& parts, const Request& request, std::string_view method,
           const Result<Login>& login) {
  if (!parts.audit) return;
  access::AuditLine line{.kind = iam::AuditKind::kAdminActivity,
                         .address = access::AddressOf(request),
                         .agent = std::string(request.headers.Get("User-Agent")),
                         .method_name = std::string(method),
                         .is_granted = login.has_value(),
                         .status = login ? kOk : wire::HttpStatus(login.error().code)};
  if (login) {
    line.principal = login->principal;
    line.credential = login->credential;
  }
  parts.audit(std::move(line));
}

/// An invalid credential is answered with a delay, and audited. `error` is kUnauthenticated.
awaitable<void> Refuse(Sessions& parts, const Request& request, std::string_view method, const Error& error) {
  Audit(parts, request, method, std::unexpected(error));
  co_await access::SlowDown(parts.failed, access::AddressOf(request), parts.clock.Now());
}

/// Makes another token for the browser.
awaitable<Result<Identities::IssuedToken>> Exchange(const Sessions& parts, Login shown) {
  seconds life = kSessionLife;
  if (shown.expires) life = std::min(life, std::chrono::floor<seconds>(*shown.expires - parts.clock.Now()));
  Identities::NewToken wanted{.principal = shown.principal,
                              .life = std::max(life, seconds(1)),
                              .description = "browser",
                              .issuer = identity::IssuerOf(shown),
                              .browser = true};
  co_return co_await parts.identities.MakeToken(std::move(wanted));
}

/// The project with the newest job, among those whose jobs the principal may list.
awaitable<std::string> FindNewestProject(control::JobService& jobs, const Identities& known,
                                         std::string principal) {
  const Result<std::vector<std::string>> recent = co_await jobs.RecentProjects();
  if (!recent) co_return std::string();
  for (const std::string& project : *recent) {
    if (principal.empty() || known.Grants(principal, "ml.jobs.list", iam::Resource::Project(project)))
      co_return project;
  }
  co_return std::string();
}

}  // namespace

NewestProject NewestProjects(control::JobService& jobs, const Identities& known) {
  return
      [&jobs, &known](std::string principal) { return FindNewestProject(jobs, known, std::move(principal)); };
}

awaitable<Result<Response>> GetSession(Sessions& parts, Request& request) {
  const Result<Login> login = co_await WhoAsks(parts, request);
  if (!login && !BearerToken(request).empty() && parts.auth)
    co_await Refuse(parts, request, kRead, login.error());
  const Login* known = login ? &*login : nullptr;
  control::v1::Session session = co_await Describe(parts, known);
  co_return SecretAnswer(session);
}

awaitable<Result<Response>> LogIn(Sessions& parts, Request& request) {
  TY_CO_TRY(const auto wanted, co_await ReadMessage<control::v1::Login>(request));
  if (!parts.auth) {
    control::v1::Session session = co_await Describe(parts, nullptr);
    co_return SecretAnswer(session);
  }
  if (wanted.token().empty()) co_return std::unexpected(InvalidArgument("token", "This field is required."));
  const Result<std::string> cookie = access::SessionToken(request);
  if (!cookie) co_return std::unexpected(cookie.error());  // next to two cookies, a new one would not be seen
  Result<Login> shown = co_await parts.identities.Check(wanted.token(), parts.own_audiences);
  if (!shown) {
    co_await Refuse(parts, request, kBegin, shown.error());
    co_return std::unexpected(iam::BadToken(shown.error()));
  }
  TY_CO_TRY(const Identities::IssuedToken made, co_await Exchange(parts, *shown));
  TY_CO_TRY(const Login login, parts.identities.CheckSession(made.text));
  Audit(parts, request, kBegin, login);
  control::v1::Session session = co_await Describe(parts, &login);
  session.set_secret(parts.secret_of(made.text));
  Response response = SecretAnswer(session);
  const auto life = std::chrono::floor<seconds>(*login.expires - parts.clock.Now());
  response.headers.Add("Set-Cookie", access::PrintSessionCookie(request, made.text, life));
  co_return response;
}

awaitable<Result<Response>> LogOut(Sessions& parts, Request& request) {
  TY_CO_TRY(const std::string token, access::SessionToken(request));
  if (parts.auth && !token.empty()) {
    if (!control::IsSame(request.headers.Get(access::kConsoleField), parts.secret_of(token)))
      co_return std::unexpected(
          InvalidArgument("", "The request must send the session's secret in the field " +
                                  std::string(access::kConsoleField) + "."));
    const Result<Login> login = parts.identities.CheckSession(token);
    if (login) {
      TY_CO_RETURN_IF_ERROR(co_await parts.identities.RevokeToken(login->token_id));
      Audit(parts, request, kEnd, login);
    }
  }
  Response response = Response::Json("{}\n");
  response.headers.Add("Set-Cookie", access::PrintNoSessionCookie(request));
  co_return response;
}

}  // namespace trainyard::api
