#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/turns.h"
#include "stores/identity/access_store.h"
#include "stores/identity/credential_check.h"
#include "stores/identity/directory.h"
#include "stores/identity/identities.h"

namespace trainyard::identity {

/// The internals of Identities. Changes run one at a time: each is decided from what is in memory, written,
/// and only then applied in memory, so that an answer is never based on what a power cut could undo. Loop
/// thread only.
struct IdentitiesState {
  IdentitiesState(boost::asio::any_io_executor executor, const Clock& used_clock, Identities::Options options,
                  AccessStore opened);
  ~IdentitiesState();
  /// Blocks: reads the file, drops what has expired, creates the first administrator.
  [[nodiscard]] static Result<std::unique_ptr<IdentitiesState>> Open(boost::asio::any_io_executor executor,
                                                                     const Clock& clock,
                                                                     Identities::Options options);

  /// Blocks: reads the secret from which project numbers are computed. If there is none yet, creates it, and
  /// stores the numbers that projects had so far (`was_used`: it is not a new file).
  [[nodiscard]] Status OpenNumbers(bool was_used,
                                   const std::function<Result<std::vector<std::string>>()>& projects_of_jobs);

  /// As those of Identities.
  [[nodiscard]] std::int64_t NumberOf(std::string_view project);
  [[nodiscard]] std::int64_t ShownNumber(std::string_view project);
  [[nodiscard]] Result<Login> CheckToken(std::string_view token);
  boost::asio::awaitable<Result<Login>> Check(std::string token, OwnAudiences own_audiences);
  [[nodiscard]] Result<Login> CheckSession(std::string_view token);
  boost::asio::awaitable<Result<Assertion>> CheckAssertion(std::string assertion, OwnAudiences own_audiences);
  /// Verifies the signature on a separate thread. kUnavailable: kVerifyingMax are waiting. Otherwise as
  /// SignedBy.
  boost::asio::awaitable<Result<SignedJwt>> Verify(std::string text);
  static constexpr int kVerifyingMax = 200;
  /// A token of this text, and the removal of those that it replaces.
  [[nodiscard]] Result<AccessChange> DecideToken(const NewToken& wanted, std::string_view text);
  /// Signs with the server's own key, which is created if there is none.
  boost::asio::awaitable<Result<std::string>> SignClaims(std::string claims);

  using Decide = std::function<Result<AccessChange>()>;
  /// Waits for its turn, decides, stores and applies the change. @return the change. kUnavailable: other
  /// changes took longer than kTurnMax. kUnauthenticated: the caller has lost the right meanwhile.
  boost::asio::awaitable<Result<AccessChange>> Change(Decide decide, StillMay still_may = {});
  static constexpr std::chrono::seconds kTurnMax{30};
  /// Change, for callers that do not need the change itself.
  boost::asio::awaitable<Status> Do(Decide decide, StillMay still_may = {});
  /// What `rule(directory, args...)` decides; the arguments are copied.
  template <class Rule, class... Args>
  [[nodiscard]] Decide By(Rule rule, Args... args) const {
    return [this, rule, ... args = std::move(args)] { return rule(directory, args...); };
  }

  void MarkUsed(const TokenHash& hash, SysTime now);

  boost::asio::any_io_executor loop;
  const Clock& clock;
  AccessStore store;  ///< after Open used on `writer` only
  Directory directory;
  VerifiedJwts verified;
  UsedAssertions used;
  int verifying = 0;
  std::optional<RsaPrivateKey> signing_key;
  std::string number_secret;
  SysTime swept;  ///< when expired tokens were last looked for
  Turns turns;
  boost::asio::thread_pool writer{1};
  boost::asio::thread_pool verifiers{1};
  boost::asio::thread_pool makers{
      1};  ///< for RSA keys and signatures, which take up to a tenth of a second: no write waits for them
};

/// How often the last use of a token is written, at most.
inline constexpr std::chrono::seconds kLastUseStep = std::chrono::hours(1);
/// How often expired tokens are looked for, at most.
inline constexpr std::chrono::seconds kSweepStep = std::chrono::hours(1);

/// kUnauthenticated if the caller has lost the right meanwhile.
[[nodiscard]] boost::asio::awaitable<Status> CheckStillMay(StillMay still_may);

/// A new etag for a policy: no two changes have the same.
[[nodiscard]] std::string RandomEtag();

}  // namespace trainyard::identity
