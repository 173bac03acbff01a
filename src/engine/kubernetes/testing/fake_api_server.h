#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/async/guarded.h"
#include "base/tls/tls_identity.h"
#include "net/http/server.h"

namespace trainyard::engine {

/// For tests of KubeHttp: a server on a thread of its own, on a port of 127.0.0.1, that answers as the test
/// sets, and records its requests.
class FakeApiServer {
 public:
  struct Answer {
    std::string body;
    int status = 200;
    std::string retry_after{};
    bool is_endless = false;  ///< after the body, the answer has no end
  };
  struct Asked {
    std::string what;  ///< "GET /api/v1/nodes?limit=500"
    std::string body;
    std::string authorization;
    std::string accept;
  };

  /// @param identity  null: without TLS
  explicit FakeApiServer(const tls::TlsIdentity* identity = nullptr);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The answers to a request, in turn; the last one is given again and again. Others get 404.
  void Say(const std::string& what, std::deque<Answer> answers);
  /// The requests since the last call.
  [[nodiscard]] std::vector<Asked> TakeAsked();
  [[nodiscard]] std::vector<std::string> TakeQuestions();
  /// How many connections are open.
  [[nodiscard]] std::size_t connection_count();

 private:
  static http::asio::awaitable<Result<http::Response>> Play(FakeApiServer& fake, std::string method,
                                                            http::Request& request);

  Guarded<std::map<std::string, std::deque<Answer>>> answers_;
  Guarded<std::vector<Asked>> asked_;
  boost::asio::io_context loop_;
  http::Router router_;
  http::Server server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace trainyard::engine
