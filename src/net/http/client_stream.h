#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/http/client.h"

namespace trainyard::http {

/// A response whose body is read while the server produces it (server-sent events), on a separate connection.
/// Synchronous, one thread at a time; the destructor closes the connection.
class ClientStream {
 public:
  /// Connects, sends the request and reads the response's head, whatever its status. The request's body must
  /// be a string. Errors: those of Client::Send.
  [[nodiscard]] static Result<ClientStream> Open(const Endpoint& endpoint, const ClientRequest& request);
  ~ClientStream();
  ClientStream(ClientStream&&) noexcept;
  ClientStream& operator=(ClientStream&&) noexcept;

  [[nodiscard]] int status() const noexcept;
  [[nodiscard]] const Headers& headers() const noexcept;

  /// Returns the part of the body that has arrived; empty at its end. kDeadlineExceeded: nothing arrived in
  /// time, but the stream can still be read; kDataLoss: the body is truncated; kUnavailable: the connection
  /// is lost.
  [[nodiscard]] Result<std::string> Read(std::chrono::milliseconds wait_max);

  /// A descriptor to poll: it becomes readable when more may have arrived. Valid after a Read() with a wait
  /// of zero that returned kDeadlineExceeded.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit ClientStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http
