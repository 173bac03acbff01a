#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/async/testing/temporary_folder.h"
#include "base/async/unique_fd.h"
#include "net/http/server.h"

/// For this folder's tests: a server on its own thread, and a client that sends raw bytes.
namespace trainyard::http {

/// Routes: GET /hello "hello"; GET /empty 204; POST /echo the body (at most 16 MiB); POST /length the body's
/// length; POST /ignore answers without reading; GET /throw throws; GET /error/{code}; GET /json/{size}; GET
/// /file/{size} 'f' * size by FileBody; GET /stream three parts; GET /endless one part, then none until it is
/// cancelled; GET /events the same as text/event-stream; GET /upgrade echoes; GET /query the method and query
/// as text; GET /header/{value} as a field's value; GET /slow answers once Release() was called.
[[nodiscard]] Router MakeTestRouter();
/// Lets every GET /slow that waits, of any server, be answered. Any thread.
void ReleaseSlow(boost::asio::io_context& loop);

class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, FramingRules rules = FramingRules::kStrict);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  /// Runs `function` on the loop and waits until it returns.
  void OnLoop(const std::function<void(Server&)>& function);
  /// Starts a TLS listener; returns its port.
  std::uint16_t ListenTls(const tls::TlsIdentity& identity);
  boost::asio::io_context& loop() { return loop_; }
  /// Stops the server and waits until the loop has no more work.
  void StopAndJoin();

 private:
  TemporaryFolder folder_;
  boost::asio::io_context loop_;
  Router router_;
  Server server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

/// A blocking client of raw bytes. Waits at most 20 s.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  /// The other end of a connected stream socket.
  explicit RawClient(UniqueFd socket);
  void Send(std::string_view bytes);
  /// Reads until the server closes; the fields that every response has (Date, X-Content-Type-Options) are
  /// removed. "(reset)" is appended if it ends in a reset, "(timeout)" if it does not end.
  std::string ReadToEnd();
  /// Reads until `text` has arrived; returns everything that was read.
  std::string ReadUntil(std::string_view text);
  void ShutdownWrite();

 private:
  UniqueFd socket_;
};

}  // namespace trainyard::http
