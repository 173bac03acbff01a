#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>

#include "net/access/account_rules.h"
#include "net/access/forwarded_rules.h"
#include "net/access/host_rules.h"
#include "net/access/peer_uid.h"
#include "net/http/server_options.h"

namespace trainyard::access {

/// Whether a running attempt uses this account, for example as its container's USER. Called only for accounts
/// that no other rule accepts.
using IsAttemptUid = std::function<boost::asio::awaitable<bool>(std::uint32_t uid)>;

/// Whether a living process has the other end of the connection. Called only for accounts that are answered.
using HasOwner = std::function<boost::asio::awaitable<bool>(http::Peer& peer)>;

/// What one gate accepts.
struct GateOptions {
  AllowedHosts hosts;
  bool asks_tokens = false;  ///< who asks is asked for a token behind the gate: accounts do not count
  Accounts accounts;
  TrustedProxies proxies{};               ///< what they pass on is no account's of this machine
  IsAttemptUid is_attempt_uid = nullptr;  ///< only where replicas ask; null: no account is an attempt's
  HasOwner has_owner = nullptr;           ///< null: where a connection alone gives no right, nobody looks
  std::string xml_storage_host;  ///< below this name paths are objects of storage's XML API; empty: nowhere
};

/// Decides for one purpose (administration; replicas and the front) whether a request may be asked: by
/// account, host, page and body, in this order. What a proxy passed on is no account's. On a Unix socket any
/// Host is accepted. Loop thread only.
/// Outlives the servers that use its Admit().
class Gate {
 public:
  /// `uids` outlives the gate.
  Gate(const PeerUids& uids, GateOptions options) : uids_(uids), options_(std::move(options)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// For http::ServerOptions::admit.
  [[nodiscard]] http::Admit Admit() const;

 private:
  boost::asio::awaitable<Status> CheckAccount(const http::Request& request) const;
  [[nodiscard]] Status CheckRequest(const http::Request& request) const;
  static boost::asio::awaitable<Status> Check(const Gate& gate, const http::Request& request);

  const PeerUids& uids_;
  GateOptions options_;
};

}  // namespace trainyard::access
