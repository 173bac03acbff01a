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

/// What Identities holds. Changes take turns: each decides by what is in memory, is written, and only then
/// shows in memory, so that a question never sees what a power cut could take back. Loop thread only.
struct IdentitiesState {
  IdentitiesState(boost::asio::any_io_executor executor, const Clock& used_clock, Identities::Options options,
                  AccessStore opened);
  ~IdentitiesState();
  /// Blocks: reads the file, drops what expired, makes the first administrator.
  [[nodiscard]] static Result<std::unique_ptr<IdentitiesState>> Open(boost::asio::any_io_executor executor,
                                                                     const Clock& clock,
                                                                     Identities::Options options);

  /// Blocks: the secret that numbers of projects are made with. If there is none yet, makes it, and keeps the
  /// numbers that projects have had (`was_used`: it is not a new file).
  [[nodiscard]] Status OpenNumbers(bool was_used,
                                   const std::function<Result<std::vector<std::string>>()>& projects_of_jobs);

  /// As those of Identities.
  [[nodiscard]] std::int64_t NumberOf(std::string_view project);
  [[nodiscard]] std::int64_t ShownNumber(std::string_view project);
  [[nodiscard]] Result<Login> CheckToken(std::string_view token);
  boost::asio::awaitable<Result<Login>> Check(std::string token, OwnAudiences own_audiences);
  [[nodiscard]] Result<Login> CheckSession(std::string_view token);
  boost::asio::awaitable<Result<Assertion>> CheckAssertion(std::string assertion, OwnAudiences own_audiences);
  /// Its signature, by a thread of its own. kUnavailable: kVerifyingMax wait. Else as SignedBy.
  boost::asio::awaitable<Result<SignedJwt>> Verify(std::string text);
  static constexpr int kVerifyingMax = 200;
  /// A token of this text, and what it takes the place of.
  [[nodiscard]] Result<AccessChange> DecideToken(const NewToken& wanted, std::string_view text);
  /// By the server's own key, which is made if there is none.
  boost::asio::awaitable<Result<std::string>> SignClaims(std::string claims);

  using Decide = std::function<Result<AccessChange>()>;
  /// Decides in its turn and makes it so. @return the change that was made. kUnavailable: others' changes
  /// take longer than kTurnMax.
  /// kUnauthenticated: whoever asks may not any more.
  boost::asio::awaitable<Result<AccessChange>> Change(Decide decide, StillMay still_may = {});
  static constexpr std::chrono::seconds kTurnMax{30};
  /// Where what was made need not be told.
  boost::asio::awaitable<Status> Do(Decide decide, StillMay still_may = {});

  void MarkUsed(const TokenHash& hash, SysTime now);
  void NotifyObservers() const;

  boost::asio::any_io_executor loop;
  const Clock& clock;
  AccessStore store;  ///< `writer` alone touches it after Open
  Directory directory;
  VerifiedJwts verified;
  UsedAssertions used;
  int verifying = 0;
  std::optional<RsaPrivateKey> signing_key;
  std::string number_secret;
  SysTime swept;  ///< when expired tokens were last looked for
  std::vector<std::function<void()>> observers;
  Turns turns;
  boost::asio::thread_pool writer{1};
  boost::asio::thread_pool verifiers{1};
  boost::asio::thread_pool makers{
      1};  ///< of RSA keys and signatures: a tenth of a second that no write waits
};

/// How often the last use of a token is written, at most.
inline constexpr std::chrono::seconds kLastUseStep = std::chrono::hours(1);
/// How often expired tokens are looked for, at most.
inline constexpr std::chrono::seconds kSweepStep = std::chrono::hours(1);

/// kUnauthenticated if whoever asks may not any more.
[[nodiscard]] boost::asio::awaitable<Status> CheckStillMay(StillMay still_may);

/// As policies' etags: no two changes have the same.
[[nodiscard]] std::string RandomEtag();

}  // namespace trainyard::identity
