#include "identity/identities_state.h"

#include <boost/asio/post.hpp>
#include <tuple>

#include "async/on_pool.h"
#include "async/random_bytes.h"
#include "wire/time.h"

namespace trainyard::identity {

using boost::asio::awaitable;

std::string RandomEtag() {
  const auto bytes = RandomBytes<std::array<char, 8>>();
  return {bytes.data(), bytes.size()};
}

Identities::State::State(boost::asio::any_io_executor executor, const Clock& used_clock, Options options,
                         AccessStore opened)
    : loop(std::move(executor)),
      clock(used_clock),
      store(std::move(opened)),
      directory(std::move(options.default_project)),
      swept(clock.Now()),
      turns(loop, 1) {}

Identities::State::~State() {
  makers.join();
  writer.join();  // last uses that wait are written
}

awaitable<Result<AccessChange>> Identities::State::Change(Decide decide) {
  Turns::Waiter turn(turns);
  turn.Want();
  if (!co_await turn.WaitFor(kTurnMax)) {
    co_return std::unexpected(
        Unavailable("access.db is busy with other changes for " + std::to_string(kTurnMax.count()) + " s"));
  }
  TY_CO_TRY(AccessChange decided, decide());
  // Shared with the writer, which goes on if the caller is gone.
  auto change = std::make_shared<const AccessChange>(std::move(decided));
  auto write = [this, change] { return store.Apply(*change); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(writer, std::move(write)));
  // No wait from here on: what is written is also known.
  directory.Apply(*change);
  verified.Forget();
  NotifyObservers();
  co_return *change;
}

void Identities::State::MarkUsed(const TokenHash& hash, SysTime now) {
  const KeptToken* token = directory.FindToken(hash);
  if (token == nullptr) return;
  if (token->record.has_last_use_time() &&
      wire::FromProto(token->record.last_use_time()) + kLastUseStep > now)
    return;
  token = directory.SetLastUse(hash, wire::ToProto(std::chrono::floor<std::chrono::hours>(now)));
  auto write = [this, hash, record = token->record] { std::ignore = store.PutLastUse(hash, record); };
  boost::asio::post(writer, std::move(write));
}

void Identities::State::NotifyObservers() const {
  for (const auto& observer : observers) observer();
}

}  // namespace trainyard::identity
