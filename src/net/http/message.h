#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "net/http/headers.h"
#include "net/http/peer.h"

namespace trainyard::access {
class Caller;
}  // namespace trainyard::access

/// HTTP as handlers see it: values and two interfaces for bodies, without the transport.
namespace trainyard::http {

namespace asio = boost::asio;

/// The request's body, read while it arrives. Loop thread only. Already dechunked and, with
/// `Content-Encoding: gzip`, decompressed (bounded: a bomb ends in kOutOfRange). The first read sends `100
/// Continue` if the client waits for it.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  /// Fills the front of `buffer`; 0 at the end of the body. kUnavailable: the client has disconnected or was
  /// too slow; kInvalidArgument: the body is cut or malformed.
  virtual asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) = 0;
  /// The rest of the body as one string; kOutOfRange (sent as 413) beyond `bytes_max`.
  asio::awaitable<Result<std::string>> ReadAll(std::size_t bytes_max);
};

/// One request. Path parameters are percent-decoded after the raw path was split at '/', so an object name
/// "a/b" that came as a%2Fb is one parameter.
struct Request {
  Method method = Method::kGet;
  std::string target;  ///< as received: raw path and query
  std::string path;    ///< raw path, still percent-encoded
  std::string scheme;  ///< "http" or "https": as the client sees it, also behind a trusted proxy
  std::string host;    ///< Host header, with port
  Headers headers;
  std::vector<std::pair<std::string, std::string>> query;       ///< decoded, in order
  std::vector<std::pair<std::string, std::string>> parameters;  ///< from the route's pattern, decoded
  std::optional<std::uint64_t> content_length;                  ///< as announced (before decompression)
  BodyReader* body = nullptr;                                   ///< lives as long as the request
  Peer* peer = nullptr;  ///< of its connection; outlives the request; null if there is no connection (tests)
  /// The client behind a trusted proxy (ServerOptions::look_behind_proxy): "192.0.2.7". Empty: the peer
  /// itself.
  std::string client_address{};
  /// The authenticated caller, set by the door (net/access/door.h); null: authentication is off.
  std::shared_ptr<const access::Caller> caller{};

  /// A path parameter that the route's pattern names; a CHECK if it does not.
  [[nodiscard]] const std::string& Parameter(std::string_view name) const;
  /// The first query parameter of that name; empty if there is none.
  [[nodiscard]] std::string_view Query(std::string_view name) const noexcept;
  [[nodiscard]] bool HasQuery(std::string_view name) const noexcept;
  /// "http://HOST": the prefix of upload locations and media links.
  [[nodiscard]] std::string Origin() const { return scheme + "://" + host; }
};

/// A part of an open file, sent with sendfile if the transport allows it. Owns the descriptor.
struct FileBody {
  std::shared_ptr<const int> descriptor;  ///< shared: a response may be copied; closed with the last one
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// A piece of a stream: three texts, sent one after the other. Text that many streams send is shared, not
/// copied.
struct StreamPart {
  std::string text;
  std::shared_ptr<const std::string> shared;  ///< null: nothing
  std::string after;

  StreamPart() = default;
  StreamPart(std::string only) : text(std::move(only)) {}  // most parts are just a text
  [[nodiscard]] std::size_t size() const noexcept {
    return text.size() + (shared != nullptr ? shared->size() : 0) + after.size();
  }
  [[nodiscard]] std::string Joined() const { return text + (shared != nullptr ? *shared : "") + after; }
};

/// A body produced while it is sent (server-sent events). `next` is called until it returns an empty part.
struct StreamBody {
  std::function<asio::awaitable<Result<StreamPart>>()> next;
};

/// The connection after `101 Switching Protocols`: bytes both ways. Loop thread only. Destroying it closes
/// it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// 0 at the end of the stream.
  virtual asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) = 0;
  /// Writes all of it. One write at a time: callers must queue.
  virtual asio::awaitable<Status> Write(std::string bytes) = 0;
  /// Ends pending reads and writes with an error.
  virtual void Close() = 0;
};

/// Responds 101 with `Upgrade: PROTOCOL` and passes the connection to `run`, which returns when the
/// connection is no longer needed.
struct UpgradeBody {
  std::string protocol;
  std::function<asio::awaitable<void>(std::shared_ptr<ByteStream> stream)>
      run;  ///< shared: writers outlive a reader
};

struct Response {
  int status = 200;
  Headers headers;
  std::variant<std::string, FileBody, StreamBody, UpgradeBody> body;

  [[nodiscard]] static Response Json(std::string text, int status = 200);
  [[nodiscard]] static Response Text(std::string text, int status = 200);
  [[nodiscard]] static Response Empty(int status = 204);
};

/// Handles a request: parse, call one use case, print. An Error becomes a google.rpc.Status body with the
/// HTTP status for its code. A named coroutine taking its parameters by value or by a reference that outlives
/// the request; never a capturing lambda that is itself a coroutine (bind the owner in a plain lambda that
/// calls the coroutine).
using Handler = std::function<asio::awaitable<Result<Response>>(Request& request)>;

}  // namespace trainyard::http
