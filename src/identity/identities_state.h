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

#include "async/turns.h"
#include "identity/access_store.h"
#include "identity/credential_check.h"
#include "identity/directory.h"
#include "identity/identities.h"

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

  /// As those of Identities.
  [[nodiscard]] Result<Login> Check(std::string_view token, OwnAudiences own_audiences);
  [[nodiscard]] Result<Login> CheckSession(std::string_view token);
  [[nodiscard]] Result<Identities::Assertion> CheckAssertion(std::string_view assertion,
                                                             OwnAudiences own_audiences);
  /// By the server's own key, which is made if there is none.
  boost::asio::awaitable<Result<std::string>> SignClaims(std::string claims);

  using Decide = std::function<Result<AccessChange>()>;
  /// Decides in its turn and makes it so. @return the change that was made. kUnavailable: others' changes
  /// take longer than kTurnMax.
  boost::asio::awaitable<Result<AccessChange>> Change(Decide decide);
  static constexpr std::chrono::seconds kTurnMax{30};
  /// Where what was made need not be told.
  boost::asio::awaitable<Status> Do(Decide decide);

  void MarkUsed(const TokenHash& hash, SysTime now);
  void NotifyObservers() const;

  boost::asio::any_io_executor loop;
  const Clock& clock;
  AccessStore store;  ///< `writer` alone touches it after Open
  Directory directory;
  VerifiedJwts verified;
  UsedAssertions used;
  std::optional<RsaPrivateKey> signing_key;
  SysTime swept;  ///< when expired tokens were last looked for
  std::vector<std::function<void()>> observers;
  Turns turns;
  boost::asio::thread_pool writer{1};
  boost::asio::thread_pool makers{
      1};  ///< of RSA keys and signatures: a tenth of a second that no write waits
};

/// How often the last use of a token is written, at most.
inline constexpr std::chrono::seconds kLastUseStep = std::chrono::hours(1);
/// How often expired tokens are looked for, at most.
inline constexpr std::chrono::seconds kSweepStep = std::chrono::hours(1);

/// As policies' etags: no two changes have the same.
[[nodiscard]] std::string RandomEtag();

}  // namespace trainyard::identity
