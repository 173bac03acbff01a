#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/result.h"

namespace trainyard {

/// All addresses of a host's name, in the order in which to try them; for a numeric address, that address.
/// Never empty. Blocks for as long as the system's resolver takes. Any thread. kUnavailable: it has none, or
/// the resolver cannot tell.
[[nodiscard]] Result<std::vector<asio::ip::address>> HostAddresses(const std::string& host);

/// How long the addresses of a name are used before the resolver is asked again.
inline constexpr std::chrono::seconds kAddressesKept{60};
/// How long a name that has no address is not asked for again.
inline constexpr std::chrono::seconds kFailureKept{5};
/// How long a caller waits for the resolver.
inline constexpr std::chrono::seconds kLookupWaitMax{15};
/// The most names that are looked up at the same time.
inline constexpr std::size_t kLookupsAtOnceMax = 16;
/// The most names that are remembered, apart from those that are being looked up.
inline constexpr std::size_t kNamesKeptMax = 1000;

/// Looks up names without blocking the loop. Callers that ask for the same name share one question to the
/// resolver and its answer, so that an answer that is lost delays only those that ask for that name. Loop
/// thread only. The destructor waits for the resolver.
class NameLookup {
 public:
  using Answer = Result<std::vector<asio::ip::address>>;
  struct Options {
    std::function<Answer(const std::string&)> resolve = HostAddresses;  ///< may block; any thread
    std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;
  };
  explicit NameLookup(asio::any_io_executor loop) : NameLookup(std::move(loop), Options()) {}
  NameLookup(asio::any_io_executor loop, Options options);

  /// As HostAddresses; kUnavailable also if there was no answer within kLookupWaitMax.
  asio::awaitable<Answer> Find(std::string host);

 private:
  struct Name;
  asio::awaitable<void> Look(std::string host, std::shared_ptr<Name> name);

  asio::any_io_executor loop_;
  Options options_;
  std::map<std::string, std::shared_ptr<Name>> names_;  ///< shared with those who wait for the answer
  asio::thread_pool pool_{kLookupsAtOnceMax};
  TaskGroup tasks_;
};

}  // namespace trainyard
