#pragma once

#include <poll.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "replica/keeper/keeper_message.h"

namespace trainyard::keeper {

/// A client for tests: sends requests and waits for the answers.
class KeeperClient {
 public:
  explicit KeeperClient(const std::string& socket, bool greets = true) {
    if (auto connected = ConnectForPackets(socket)) connection_ = *std::move(connected);
    if (greets && connection_) hello_ = Ask(Greeting());
  }

  [[nodiscard]] int socket() const { return connection_.get(); }
  [[nodiscard]] const Result<Answer>& hello() const { return hello_; }
  void HangUp() { connection_.Reset(); }
  /// Whether it was sent.
  bool Send(std::string_view bytes, std::span<const int> descriptors = {}) {
    return SendPacket(connection_.get(), bytes, descriptors).has_value();
  }
  /// kUnavailable: the keeper has closed the connection, or does not answer within 20 s.
  Result<Answer> Receive() {
    constexpr int kWaitMilliseconds = 20'000;
    pollfd answered{.fd = connection_.get(), .events = POLLIN, .revents = 0};
    if (poll(&answered, 1, kWaitMilliseconds) <= 0) return std::unexpected(Unavailable("no answer"));
    auto packet = ReceivePacket(connection_.get());
    if (!packet) return std::unexpected(packet.error());
    if (!packet->descriptors.empty()) descriptor_ = std::move(packet->descriptors.front());
    return ParseAnswer(packet->bytes);
  }
  template <class Message>
  Result<Answer> Ask(Message message, std::span<const int> descriptors = {}) {
    if (!Send(AsRequest(std::move(message)).SerializeAsString(), descriptors))
      return std::unexpected(Unavailable("not sent"));
    return Receive();
  }
  /// The descriptor of the last answer that had one.
  UniqueFd TakeDescriptor() { return std::move(descriptor_); }

 private:
  UniqueFd connection_;
  UniqueFd descriptor_;
  Result<Answer> hello_ = std::unexpected(Unavailable("not asked"));
};

/// The code of a refusal; kUnknown: the answer is not a refusal.
inline Code RefusalOf(const Result<Answer>& answer) {
  return answer && answer->has_refused() ? static_cast<Code>(answer->refused().code()) : Code::kUnknown;
}

}  // namespace trainyard::keeper
