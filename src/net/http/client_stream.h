#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/http/client.h"

namespace trainyard::http {

/// An answer whose body is read while the server makes it (server-sent events), on a connection of its own.
/// Synchronous, one thread at a time; the destructor closes the connection.
class ClientStream {
 public:
  /// Connects, sends the request and reads the answer's head, whatever its status; the request's body is a
  /// text. Errors: those of Client::Send.
  [[nodiscard]] static Result<ClientStream> Open(const Endpoint& endpoint, const ClientRequest& request);
  ~ClientStream();
  ClientStream(ClientStream&&) noexcept;
  ClientStream& operator=(ClientStream&&) noexcept;

  [[nodiscard]] int status() const noexcept;
  [[nodiscard]] const Headers& headers() const noexcept;

  /// The part of the body that has arrived, empty at its end. kDeadlineExceeded: nothing came in time, the
  /// stream can still be read; kDataLoss: cut; kUnavailable: the connection is lost.
  [[nodiscard]] Result<std::string> Read(std::chrono::milliseconds wait_max);

  /// Readable when more may have come, after a Read() that waited for nothing and found nothing.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit ClientStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http
