#include "base/async/name_lookup.h"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/async/event.h"
#include "base/async/on_pool.h"

namespace trainyard {

Result<std::vector<asio::ip::address>> HostAddresses(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // else each address comes once for each type
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed != 0) return std::unexpected(Unavailable("cannot find " + host + ": " + ::gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<asio::ip::address> addresses;
  for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                reinterpret_cast<char*>(endpoint.data()));
    addresses.push_back(endpoint.address());
  }
  if (addresses.empty()) return std::unexpected(Unavailable("cannot find " + host + ": it has no address"));
  return addresses;
}

struct NameLookup::Name {
  explicit Name(const asio::any_io_executor& loop) : answered(loop) {}
  Event answered;
  std::optional<Answer> answer;  ///< empty until the event is set
  std::chrono::steady_clock::time_point until;
};

NameLookup::NameLookup(asio::any_io_executor loop, Options options)
    : loop_(loop), options_(std::move(options)), tasks_(std::move(loop)) {}

asio::awaitable<NameLookup::Answer> NameLookup::Find(std::string host) {
  boost::system::error_code is_name;
  const asio::ip::address numeric = asio::ip::make_address(host, is_name);
  if (!is_name) co_return std::vector{numeric};
  host = ToLower(host);
  std::shared_ptr<Name> name = names_[host];
  if (!name || (name->answer && options_.now() >= name->until)) {
    if (names_.size() > kNamesKeptMax)
      std::erase_if(names_, [](const auto& one) { return one.second && one.second->answer; });
    name = names_[host] = std::make_shared<Name>(loop_);
    tasks_.Spawn(Look(host, name));
  }
  const bool answered = co_await name->answered.WaitFor(kLookupWaitMax);
  if (answered) co_return *name->answer;
  co_return std::unexpected(Unavailable("cannot find " + host + ": the resolver has not answered within " +
                                        std::to_string(kLookupWaitMax.count()) + " s"));
}

asio::awaitable<void> NameLookup::Look(std::string host, std::shared_ptr<Name> name) {
  auto resolve = [this, &host] { return options_.resolve(host); };
  name->answer = co_await OnPool(pool_, std::move(resolve));
  name->until = options_.now() + (*name->answer ? kAddressesKept : kFailureKept);
  name->answered.Set();
}

}  // namespace trainyard
