#pragma once

#include <nghttp2/nghttp2.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "net/http/transport.h"

/// For this room's tests: a client of gRPC by nghttp2.
namespace trainyard::grpc {

/// A request. The body is sent as it is: use PrintMessage.
struct TestRequest {
  std::string path;
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< besides the usual ones
  std::string content_type = "application/grpc";
  std::string method = "POST";
  bool ends = true;  ///< false: the stream stays open after the body
};

/// What arrived on a stream.
struct TestAnswer {
  std::map<std::string, std::string> fields;    ///< of the head
  std::map<std::string, std::string> trailers;  ///< of the end; those of the head if there is nothing else
  std::string body;
  std::optional<std::uint32_t> closed;  ///< with this error of HTTP/2
};

/// One connection. Loop thread only. Run Read and Write in a task group that ends before it.
class TestClient {
 public:
  TestClient(const boost::asio::any_io_executor& executor, std::unique_ptr<http::Transport> transport);
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  /// For TLS, before Read and Write.
  boost::asio::awaitable<Status> Handshake() { return transport_->Handshake(); }
  /// Both return when the connection is over.
  boost::asio::awaitable<void> Read();
  boost::asio::awaitable<void> Write();

  /// Sends a request and returns its stream.
  std::int32_t Ask(TestRequest request);
  void Reset(std::int32_t id);
  void Ping();
  void Close();
  [[nodiscard]] const TestAnswer& At(std::int32_t id) { return answers_[id]; }
  [[nodiscard]] bool IsClosed(std::int32_t id) { return answers_[id].closed.has_value(); }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] std::optional<std::uint32_t> goaway() const { return goaway_; }  ///< its error
  [[nodiscard]] int pongs() const { return pongs_; }
  [[nodiscard]] const std::string& sent() const { return sent_; }  ///< all bytes

 private:
  struct Body {
    std::string bytes;
    std::size_t begin = 0;
    bool ends = true;
  };
  static TestClient& Of(void* user) { return *static_cast<TestClient*>(user); }
  int OnFrame(const nghttp2_frame& frame);
  ssize_t Take(std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags);
  nghttp2_session_callbacks* MakeCallbacks();

  std::unique_ptr<http::Transport> transport_;
  nghttp2_session* session_ = nullptr;
  Event to_send_;
  std::map<std::int32_t, Body> bodies_;
  std::map<std::int32_t, TestAnswer> answers_;
  std::optional<std::uint32_t> goaway_;
  int pongs_ = 0;
  bool over_ = false;
  std::string sent_;
};

}  // namespace trainyard::grpc
