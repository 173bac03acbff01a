#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "net/http/channel.h"
#include "net/http/message.h"

namespace trainyard::http {

/// Everything that decides how a response is written, apart from the response.
struct ResponseContext {
  bool to_head = false;    ///< the body is left out
  int minor_version = 1;   ///< HTTP version of the request
  bool keep_alive = true;  ///< announced in the head
  bool accepts_gzip = false;
  std::string_view date;  ///< the Date field's value; outlives the write
  Duration write_wait_max{};
};

/// "Not Found" and so on; empty for a status that has no name here.
[[nodiscard]] std::string_view ReasonPhrase(int status) noexcept;

/// The head as bytes. Control characters in field values (an object's content type, say) become spaces, so
/// that no value can end the head. Every response has X-Content-Type-Options. Only the writer sets fields
/// that describe the body's framing: those of a handler are left out.
[[nodiscard]] std::string PrintResponseHead(const Response& response, const ResponseContext& context,
                                            std::string_view framing_fields);

/// Writes the response; a JSON body above kGzipBytesMin is compressed if the client accepts that. Returns
/// false if the connection must be closed to end the body: after a StreamBody that failed or whose client
/// uses HTTP/1.0. For an UpgradeBody only the 101 is written. After an error the connection cannot be used
/// any more.
asio::awaitable<Result<bool>> WriteResponse(Channel& channel, Response& response, ResponseContext context);

inline constexpr std::size_t kGzipBytesMin = 1024;

}  // namespace trainyard::http
