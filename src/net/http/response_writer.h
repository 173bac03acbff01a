#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "net/http/channel.h"
#include "net/http/message.h"

namespace trainyard::http {

/// What the form of the response depends on besides the response itself.
struct ResponseContext {
  bool to_head = false;    ///< the body is left out
  int minor_version = 1;   ///< of the request
  bool keep_alive = true;  ///< what the head announces
  bool accepts_gzip = false;
  std::string_view date;  ///< the Date field's value; outlives the write
  Duration write_wait_max{};
};

/// "Not Found" and so on; empty for a status that has no name here.
[[nodiscard]] std::string_view ReasonPhrase(int status) noexcept;

/// The head as bytes. Control characters in field values (an object's content type, say) become spaces, so
/// that no value can end the head. Every response has X-Content-Type-Options. Fields that describe the
/// body's framing are set by the writer alone: a handler's are left out.
[[nodiscard]] std::string PrintResponseHead(const Response& response, const ResponseContext& context,
                                            std::string_view framing_fields);

/// Writes the response; a body of JSON above kGzipBytesMin is compressed where the client allows it. A
/// StreamBody that fails, or whose client has HTTP/1.0, needs the connection to be closed afterwards to show
/// its end: false then. For an UpgradeBody only the 101 is written. After an error the connection cannot
/// be used any more.
asio::awaitable<Result<bool>> WriteResponse(Channel& channel, Response& response, ResponseContext context);

inline constexpr std::size_t kGzipBytesMin = 1024;

}  // namespace trainyard::http
