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
#include "stores/identity/new_token.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/identity/v1/identity.pb.h"

namespace trainyard::identity {

struct IdentitiesState;

/// Who is known here, what they were given, and what policies say. Loop thread only; questions are answered
/// from memory at once, changes are durable when they return (a thread of its own writes). Outlives the
/// servers that ask it.
///
/// The installation's policy binds roles/trainyard.admin to the administrator and cannot lose its last such
/// binding. A project exists as soon as a policy, a job or a bucket names it: nobody creates one.
class Identities {
 public:
  struct Options {
    std::string path;             ///< DATA/access.db
    std::string default_project;  ///< of buckets that nobody's project was recorded for
    /// Of jobs that are there: asked once, of a data directory from before numbers of projects were kept.
    std::function<Result<std::vector<std::string>>()> projects_of_jobs{};
  };
  /// Blocks. `clock` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<Identities>> Open(boost::asio::any_io_executor loop,
                                                                const Clock& clock, Options options);
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  // --- credentials -----------------------------------------------------------------------------------------

  /// What a Bearer token proves: an opaque one ("ty_..."), or a JWT that a service account's key signs
  /// (spec access.md section 3; `own_audiences`: URLs that mean this server, see jwt_rules.h; they outlive
  /// the call). kUnauthenticated with the reason: unknown, expired, revoked, malformed, its key or account is
  /// disabled. kUnavailable: too many signatures wait. At once for opaque ones and JWTs seen before.
  boost::asio::awaitable<Result<Login>> Check(std::string token, std::span<const std::string> own_audiences);
  /// Of an opaque one alone, under 50 us.
  [[nodiscard]] Result<Login> CheckToken(std::string_view token);
  /// The same of what a session's cookie has: a token that was made for a browser, and nothing else.
  [[nodiscard]] Result<Login> CheckSession(std::string_view token);

  /// Whether Check would still make a login that it made before. Logins that it did not make always hold.
  [[nodiscard]] bool StillHolds(const Login& login) const;

  using NewToken = identity::NewToken;
  using MadeToken = identity::MadeToken;
  /// Makes a token. Its text is returned once and never kept. `life` of nothing: until it is revoked. One
  /// that a credential was exchanged for, or that was made through one, is worth nothing without it.
  /// kInvalidArgument: not a principal; kNotFound: a service account that does not exist; kUnauthenticated:
  /// the credential, or what gave it the right, is gone; kFailedPrecondition: the account is
  /// disabled, or kExchangesMax; kResourceExhausted: kTokensMax of the principal.
  boost::asio::awaitable<Result<MadeToken>> MakeToken(NewToken wanted);
  static constexpr int kTokensMax = 1'000;  ///< of one principal, not expired, beside what was exchanged
  /// Of one principal, made of one token that was not exchanged itself, or of one key. The oldest gives way.
  static constexpr int kExchangedMax = 1'000;
  /// Of one principal, or of all ("").
  [[nodiscard]] std::vector<v1::Token> Tokens(std::string_view principal) const;
  /// By its id. kNotFound.
  boost::asio::awaitable<Status> RevokeToken(std::string id);

  /// OAuth's jwt-bearer grant: the service account that signed the assertion, once signature, iss, aud, iat,
  /// exp and (where it is present) jti hold: a jti is good once, also after a restart. kInvalidArgument with
  /// the reason that clients show.
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
  /// By e-mail or unique id; also a project's own account, which nobody made and nobody can change or delete.
  /// kNotFound.
  [[nodiscard]] Result<v1::ServiceAccount> FindServiceAccount(std::string_view email) const;
  /// What tells it from a later account of the same e-mail: its unique id, or kNoAccount. Of a project's own
  /// account, which is always the same: nothing.
  [[nodiscard]] std::string AccountId(std::string_view email) const;
  /// Whether the account that AccountId was asked of is still there. Nothing: when that was not asked yet.
  [[nodiscard]] bool IsAccount(std::string_view email, std::string_view account_id) const;
  /// Its keys, tokens and bindings go with it. kFailedPrecondition: it is the last administrator.
  boost::asio::awaitable<Status> DeleteServiceAccount(std::string email);
  boost::asio::awaitable<Status> SetServiceAccountDisabled(std::string email, bool disabled,
                                                           StillMay still_may = {});
  /// What its owners write about it; what is absent stays.
  struct AccountTexts {
    std::optional<std::string> display_name;
    std::optional<std::string> description;
  };
  boost::asio::awaitable<Result<v1::ServiceAccount>> DescribeServiceAccount(std::string email,
                                                                            AccountTexts texts);

  /// An RSA key of 2,048 bits; the private one is returned once (PEM, PKCS #8) and never kept.
  struct MadeKey {
    v1::ServiceAccountKey key;
    std::string private_key_pem;
  };
  boost::asio::awaitable<Result<MadeKey>> CreateKey(std::string email, StillMay still_may = {});
  [[nodiscard]] Result<std::vector<v1::ServiceAccountKey>> Keys(std::string_view email) const;
  boost::asio::awaitable<Status> SetKeyDisabled(std::string email, std::string key_id, bool disabled,
                                                StillMay still_may = {});
  boost::asio::awaitable<Status> DeleteKey(std::string email, std::string key_id);
  static constexpr int kKeysMax = 10;  ///< of one account. Source: iam quotas

  // --- policies --------------------------------------------------------------------------------------------

  /// Of the installation, a project, a bucket or a service account (never of a job); with its etag; empty if
  /// none was set. For a bucket without one: what its project's basic roles have (spec access.md section 9).
  [[nodiscard]] iam::v1::Policy Policy(const iam::Resource& resource) const;
  /// kAborted: the etag is not the stored one. kInvalidArgument: iam::CheckPolicy, or the last administrator.
  boost::asio::awaitable<Result<iam::v1::Policy>> SetPolicy(iam::Resource resource,
                                                            iam::v1::SetIamPolicyRequest request,
                                                            StillMay still_may = {});
  /// Binds the role beside what is there.
  boost::asio::awaitable<Status> AddBinding(iam::Resource resource, std::string role, std::string member,
                                            StillMay still_may = {});

  /// Whether policies of the resource and what is above it give the permission. Of a job: the installation's
  /// and the project's; the job's own policy is its record's (access::Authority asks for it).
  [[nodiscard]] bool Grants(std::string_view principal, std::string_view permission,
                            const iam::Resource& resource) const;
  /// Whether the principal has any role on the resource or above it.
  [[nodiscard]] bool Knows(std::string_view principal, const iam::Resource& resource) const;

  /// Whether a basic role (owner, editor, viewer) is bound to the principal on the project or above it.
  [[nodiscard]] bool HasBasicRole(std::string_view principal, std::string_view role,
                                  std::string_view project) const;

  [[nodiscard]] const std::string& default_project() const noexcept;
  /// The project that a bucket belongs to. Other threads ask bucket_projects().
  [[nodiscard]] std::string ProjectOf(std::string_view bucket) const;
  [[nodiscard]] std::shared_ptr<const BucketProjects> bucket_projects() const;
  boost::asio::awaitable<Status> SetBucketProject(std::string bucket, std::string project);
  /// The bucket is gone, and its policy with it.
  boost::asio::awaitable<Status> ForgetBucket(std::string bucket);

  /// A project's number, kept for ever. Over ProjectNumbers::kKeptMax projects, one that means nobody.
  [[nodiscard]] std::int64_t NumberOf(std::string_view project);
  /// The same for who reads: nothing is written for a project that nothing names.
  [[nodiscard]] std::int64_t ShownNumber(std::string_view project);

  /// All projects that policies name, sorted.
  [[nodiscard]] std::vector<std::string> Projects() const;

  /// Called on the loop after tokens, keys, accounts or policies changed: open streams ask again.
  void OnChanged(std::function<void()> observer);

 private:
  explicit Identities(std::unique_ptr<IdentitiesState> state) noexcept;
  std::unique_ptr<IdentitiesState> state_;
};

}  // namespace trainyard::identity
