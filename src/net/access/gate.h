#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/access/account_rules.h"
#include "net/access/forwarded_rules.h"
#include "net/access/peer_uid.h"
#include "net/http/server_options.h"

namespace trainyard::access {

// Header fields that a request must have and that a web page cannot send without the server's consent. Pure:
// any thread.

/// What a request's header says about its body.
struct BodyFacts {
  std::string_view path;          ///< raw
  std::string_view content_type;  ///< the Content-Type field; empty: none
  bool has_body = false;          ///< its length is above 0, or it is chunked
  bool overrides_get = false;     ///< a POST with X-HTTP-Method-Override: GET: the body is a form
  bool is_xml_storage = false;    ///< the host is storage's: paths are objects of the XML API
};

/// Whether the body may be of any type: uploads, batches (multipart/mixed), grants of tokens (a form).
[[nodiscard]] bool TakesAnyBody(const BodyFacts& facts) noexcept;

/// A body of any other method must be declared as JSON, or as YAML if the method only checks a job: an HTML
/// form of another site can send text/plain, but neither of these. kInvalidArgument, naming Content-Type.
[[nodiscard]] Status CheckBodyType(const BodyFacts& facts);

/// Paths of the metadata server need `Metadata-Flavor: Google`, as with Google's own: neither a redirect nor
/// a page can add it. kPermissionDenied.
[[nodiscard]] Status CheckMetadataFlavor(std::string_view path, std::string_view flavor);

// Which requests web pages may send. Pure: any thread. Sources: RFC 6454 (Origin), W3C "Fetch Metadata
// Request Headers".

/// What a request's header says about the page that made it. Programs send none of these fields.
struct PageFacts {
  bool is_read = false;             ///< GET or HEAD, not an upgrade
  std::string_view path;            ///< raw
  std::string_view host;            ///< the Host field
  bool has_origin = false;          ///< there is an Origin field, even an empty one
  std::string_view origin;          ///< "https://localhost:8470", "null"
  std::string_view sec_fetch_site;  ///< "same-origin", "same-site", "cross-site", "none"; empty: not sent
};

/// Whether a page of another origin made the request. The same host with another port is another origin: any
/// account may serve "localhost:3000". The scheme is ignored: a proxy before the server may terminate TLS.
[[nodiscard]] bool IsForeignPage(const PageFacts& facts);

/// Whether anyone may read the path: the API descriptions, the health check, the console's files, and "/".
[[nodiscard]] bool IsPublicPath(std::string_view path) noexcept;

/// A page of another origin may read what is public; anything else is kPermissionDenied.
[[nodiscard]] Status CheckPage(const PageFacts& facts);

// Which host names a server accepts. Pure: any thread.

/// Names of this machine itself (wire::IsLoopbackName) are always accepted and need not be listed.
struct AllowedHosts {
  /// In lower case, without a port: the listener's own address, and what --host-name gives.
  std::vector<std::string> names;
  /// Suffixes, such as ".metadata.trainyard": any name that ends with one is accepted.
  std::vector<std::string> suffixes;
};

/// Protects against DNS rebinding: refuses a Host field that is missing or names another host. The port does
/// not matter. kPermissionDenied, naming the flag that allows the name.
[[nodiscard]] Status CheckHost(std::string_view host_field, const AllowedHosts& allowed);

/// Whether a running attempt uses this account, for example as its container's USER. Called only for accounts
/// that no other rule accepts.
using IsAttemptUid = std::function<boost::asio::awaitable<bool>(std::uint32_t uid)>;

/// Whether a living process owns the other end of the connection. Called only for accounts that are accepted.
using HasOwner = std::function<boost::asio::awaitable<bool>(http::Peer& peer)>;

/// The rules of one gate.
struct GateOptions {
  AllowedHosts hosts;
  bool asks_tokens = false;  ///< a token is required behind the gate; accounts are not checked
  AllowedAccounts accounts;
  TrustedProxies proxies{};               ///< their requests belong to no account of this machine
  IsAttemptUid is_attempt_uid = nullptr;  ///< set only for replicas; null: no account is an attempt's
  HasOwner has_owner = nullptr;  ///< null: not checked, for gates where a connection alone grants nothing
  std::string xml_storage_host;  ///< on this host paths are objects of storage's XML API; empty: on none
};

/// Decides for one purpose (administration; replicas and the front) whether a request is accepted. Checks
/// account, host, page and body, in this order. A request that a proxy forwarded belongs to no account. On a
/// Unix socket any Host is accepted. Loop thread only. Outlives the servers that use its Admit().
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
