#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/iam/login.h"
#include "rules/iam/resource.h"
#include "stores/identity/bucket_projects.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/identity/v1/identity.pb.h"

namespace trainyard::identity {

using iam::Login;

/// The NewToken::issuer of a token that a login was exchanged for: when the login's credential ends, so does
/// the token.
[[nodiscard]] std::string IssuerOf(const Login& login);

/// Whether the caller of a change still has the right to it: checked when nothing can happen between the
/// answer and the change, so that a revocation always takes effect first. Null: callers are not
/// authenticated.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

struct NewToken {
  std::string principal;
  std::optional<std::chrono::seconds> life;
  std::string description;
  std::string issuer;     ///< what asked for it: a principal, or IssuerOf its login
  bool browser = false;   ///< for Identities::CheckSession, and refused by Check
  std::string through{};  ///< IssuerOf the login that made the token for a service account (the principal)
  StillMay still_may{};
};

struct IssuedToken {
  std::string text;
  v1::Token token;
};

/// The result of a valid signed assertion.
struct Assertion {
  std::string principal;
  std::string key_id;           ///< for NewToken::issuer: "key K"
  std::string target_audience;  ///< not empty: the client asks for an identity token
};

struct IdToken {
  std::string email;
  std::string audience;
  bool include_email = false;
  std::string issuer;  ///< "https://yard.example:8443"
  StillMay still_may{};
};

struct IdentitiesState;

/// The known accounts, their credentials, and the policies. Loop thread only; questions are answered from
/// memory without waiting, changes are durable when they return (a separate thread writes). Outlives the
/// servers that use it.
///
/// The installation's policy binds roles/trainyard.admin to the administrator and cannot lose its last such
/// binding. A project exists as soon as a policy, a job or a bucket names it; it is not created.
class Identities {
 public:
  struct Options {
    std::string path;             ///< DATA/access.db
    std::string default_project;  ///< the project of buckets for which none was recorded
    /// The projects of existing jobs: called once, if numbers of projects were not stored yet.
    std::function<Result<std::vector<std::string>>()> projects_of_jobs{};
  };
  /// Blocks. `clock` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<Identities>> Open(boost::asio::any_io_executor loop,
                                                                const Clock& clock, Options options);
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  // --- credentials -----------------------------------------------------------------------------------------

  /// What a Bearer token proves: an opaque one ("ty_..."), or a JWT signed by a service account's key (spec
  /// access.md section 3; `own_audiences`: URLs that mean this server, see jwt.h; they outlive the
  /// call). kUnauthenticated with the reason: unknown, expired, revoked, malformed, its key or account is
  /// disabled. kUnavailable: too many signatures wait. No wait for opaque tokens and known JWTs.
  boost::asio::awaitable<Result<Login>> Check(std::string token, std::span<const std::string> own_audiences);
  /// Checks an opaque token only; takes less than 50 us.
  [[nodiscard]] Result<Login> CheckToken(std::string_view token);
  /// Checks the token in a session's cookie: only a token that was made for a browser is valid there.
  [[nodiscard]] Result<Login> CheckSession(std::string_view token);

  /// Whether Check would still return a login that it returned before. Always true for other logins.
  [[nodiscard]] bool StillHolds(const Login& login) const;

  using NewToken = identity::NewToken;
  using IssuedToken = identity::IssuedToken;
  /// Makes a token. Its text is returned once and never stored. No `life`: valid until it is revoked. A token
  /// that a credential was exchanged for, or that was made through one, is only valid as long as that
  /// credential. kInvalidArgument: not a principal; kNotFound: a service account that does not exist;
  /// kUnauthenticated: the credential, or what gave it the right, is gone; kFailedPrecondition: the account
  /// is disabled, or kExchangesMax; kResourceExhausted: kTokensMax of the principal.
  boost::asio::awaitable<Result<IssuedToken>> MakeToken(NewToken wanted);
  static constexpr int kTokensMax = 1'000;  ///< unexpired ones per principal, not counting exchanged ones
  /// Per principal and original credential (a key or an unexchanged token). The oldest is dropped.
  static constexpr int kExchangedMax = 1'000;
  /// The tokens of one principal, or all ("").
  [[nodiscard]] std::vector<v1::Token> Tokens(std::string_view principal) const;
  /// By the token's id. kNotFound.
  boost::asio::awaitable<Status> RevokeToken(std::string id);

  /// OAuth's jwt-bearer grant: returns the service account that signed the assertion, if signature, iss, aud,
  /// iat, exp and (where it is present) jti are valid: a jti is accepted once, also across restarts.
  /// kInvalidArgument with the reason that clients show.
  using Assertion = identity::Assertion;
  boost::asio::awaitable<Result<Assertion>> CheckAssertion(std::string assertion,
                                                           std::span<const std::string> own_audiences);

  /// An OpenID Connect identity token of a service account, an hour long, signed by the server's own key.
  /// kNotFound; kFailedPrecondition: the account is disabled; kInvalidArgument: no audience, or more than
  /// kAudienceMax bytes of it.
  using IdToken = identity::IdToken;
  boost::asio::awaitable<Result<std::string>> MakeIdToken(IdToken wanted);
  static constexpr std::size_t kAudienceMax = 1'024;

  // --- service accounts ------------------------------------------------------------------------------------

  boost::asio::awaitable<Result<v1::ServiceAccount>> CreateServiceAccount(std::string project,
                                                                          std::string account_id,
                                                                          std::string display_name,
                                                                          std::string description = {});
  [[nodiscard]] std::vector<v1::ServiceAccount> ServiceAccounts(std::string_view project) const;
  /// By e-mail or unique id; also finds a project's service agent, which always exists and cannot be changed
  /// or deleted. kNotFound.
  [[nodiscard]] Result<v1::ServiceAccount> FindServiceAccount(std::string_view email) const;
  /// What tells it from a later account with the same e-mail: its unique id, or kNoAccount. Empty for a
  /// project's service agent, which is always the same.
  [[nodiscard]] std::string AccountId(std::string_view email) const;
  /// Whether the account for which AccountId was called still exists. Empty id: it was not called yet.
  [[nodiscard]] bool IsAccount(std::string_view email, std::string_view account_id) const;
  /// Also deletes its keys, tokens and bindings. kFailedPrecondition: it is the last administrator.
  boost::asio::awaitable<Status> DeleteServiceAccount(std::string email);
  boost::asio::awaitable<Status> SetServiceAccountDisabled(std::string email, bool disabled,
                                                           StillMay still_may = {});
  /// The texts that describe an account; absent members stay as they are.
  struct AccountTexts {
    std::optional<std::string> display_name;
    std::optional<std::string> description;
  };
  boost::asio::awaitable<Result<v1::ServiceAccount>> DescribeServiceAccount(std::string email,
                                                                            AccountTexts texts);

  /// An RSA key of 2,048 bits; the private key is returned once (PEM, PKCS #8) and never stored.
  struct IssuedKey {
    v1::ServiceAccountKey key;
    std::string private_key_pem;
  };
  boost::asio::awaitable<Result<IssuedKey>> CreateKey(std::string email, StillMay still_may = {});
  [[nodiscard]] Result<std::vector<v1::ServiceAccountKey>> Keys(std::string_view email) const;
  boost::asio::awaitable<Status> SetKeyDisabled(std::string email, std::string key_id, bool disabled,
                                                StillMay still_may = {});
  boost::asio::awaitable<Status> DeleteKey(std::string email, std::string key_id);
  static constexpr int kKeysMax = 10;  ///< per account. Source: iam quotas

  // --- policies --------------------------------------------------------------------------------------------

  /// The policy of the installation, a project, a bucket or a service account (never a job) with its etag;
  /// empty if never set, but for a bucket then that of its project's basic roles (spec access.md section 9).
  [[nodiscard]] iam::v1::Policy Policy(const iam::Resource& resource) const;
  /// kAborted: the etag is not the stored one. kInvalidArgument: iam::CheckPolicy, or the last administrator.
  boost::asio::awaitable<Result<iam::v1::Policy>> SetPolicy(iam::Resource resource,
                                                            iam::v1::SetIamPolicyRequest request,
                                                            StillMay still_may = {});
  /// Adds a binding to the policy.
  boost::asio::awaitable<Status> AddBinding(iam::Resource resource, std::string role, std::string member,
                                            StillMay still_may = {});

  /// Whether policies of the resource and of its parents give the permission. A job's own policy is not
  /// checked: it is in the job's record (access::Authority checks it).
  [[nodiscard]] bool Grants(std::string_view principal, std::string_view permission,
                            const iam::Resource& resource) const;
  /// Whether the principal has any role on the resource or a parent of it.
  [[nodiscard]] bool Knows(std::string_view principal, const iam::Resource& resource) const;

  /// Whether a basic role (owner, editor, viewer) is bound to the principal on the project or installation.
  [[nodiscard]] bool HasBasicRole(std::string_view principal, std::string_view role,
                                  std::string_view project) const;

  [[nodiscard]] const std::string& default_project() const noexcept;
  /// The project that a bucket belongs to. Other threads use bucket_projects().
  [[nodiscard]] std::string ProjectOf(std::string_view bucket) const;
  [[nodiscard]] std::shared_ptr<const BucketProjects> bucket_projects() const;
  boost::asio::awaitable<Status> SetBucketProject(std::string bucket, std::string project);
  /// The bucket was deleted: its policy is deleted, too.
  boost::asio::awaitable<Status> ForgetBucket(std::string bucket);

  /// A project's number, which never changes. Beyond ProjectNumbers::kKeptMax, one that identifies nobody.
  [[nodiscard]] std::int64_t NumberOf(std::string_view project);
  /// The same for read-only calls: nothing is written for a project that no record names.
  [[nodiscard]] std::int64_t ShownNumber(std::string_view project);

  /// All projects that policies name, sorted.
  [[nodiscard]] std::vector<std::string> Projects() const;

 private:
  explicit Identities(std::unique_ptr<IdentitiesState> state) noexcept;
  std::unique_ptr<IdentitiesState> state_;
};

}  // namespace trainyard::identity
