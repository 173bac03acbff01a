#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>

#include "net/http/message.h"

namespace trainyard::access {

/// Whether who asked may still have what streams.
using StillMay = std::function<boost::asio::awaitable<bool>()>;

/// Makes a stream or an upgraded connection end once `still_may` says no: a stream before its next part (a
/// silent tail has one every 15 s), an upgraded connection within kStreamRecheck. Other answers stay as they
/// are. Loop thread.
void KeepOnlyWhile(StillMay still_may, http::Response& response);
inline constexpr std::chrono::seconds kStreamRecheck{2};

/// The body of a request that was let in by its header: nothing of it is taken once `holds` says no. Loop
/// thread. As long as the handler.
class KeptBody final : public http::BodyReader {
 public:
  KeptBody(http::Request& request, StillMay holds)
      : request_(request), body_(request.body), holds_(std::move(holds)) {
    if (body_ != nullptr) request_.body = this;
  }
  ~KeptBody() override { request_.body = body_; }
  KeptBody(const KeptBody&) = delete;
  KeptBody& operator=(const KeptBody&) = delete;
  /// As the body; kUnauthenticated: `holds` says no.
  boost::asio::awaitable<Result<std::size_t>> ReadSome(std::span<std::byte> buffer) override;

 private:
  http::Request& request_;
  http::BodyReader* body_;
  StillMay holds_;
};

}  // namespace trainyard::access
