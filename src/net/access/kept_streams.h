#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>

#include "net/http/message.h"

namespace trainyard::access {

/// Whether the caller still has access to the stream.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

/// Ends a stream or an upgraded connection once `still_may` returns false: a stream before its next part (an
/// idle one sends a part every 15 s), an upgraded connection within kStreamRecheck. Other responses are not
/// changed. Loop thread.
void KeepOnlyWhile(StillMay still_may, http::Response& response);
inline constexpr std::chrono::seconds kStreamRecheck{2};

/// The body of a request that was accepted by its header; reading fails once `holds` returns false. Loop
/// thread. Lives as long as the handler runs.
class KeptBody final : public http::BodyReader {
 public:
  KeptBody(http::Request& request, StillMay holds)
      : request_(request), body_(request.body), holds_(std::move(holds)) {
    if (body_ != nullptr) request_.body = this;
  }
  ~KeptBody() override { request_.body = body_; }
  KeptBody(const KeptBody&) = delete;
  KeptBody& operator=(const KeptBody&) = delete;
  /// Reads from the original body; kUnauthenticated if `holds` returns false.
  boost::asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override;

 private:
  http::Request& request_;
  http::BodyReader* body_;
  StillMay holds_;
};

}  // namespace trainyard::access
