#include "engine/kubernetes/testing/fake_api_server.h"

#include <boost/asio/post.hpp>
#include <future>
#include <memory>
#include <utility>

#include "base/async/event.h"
#include "base/check.h"
#include "net/http/listening_socket.h"

namespace trainyard::engine {

namespace {

http::asio::awaitable<Result<http::StreamPart>> OnePartThenNone(std::shared_ptr<std::string> body) {
  if (!body->empty()) co_return http::StreamPart(std::exchange(*body, {}));
  const auto executor = co_await http::asio::this_coro::executor;
  Event never(executor);
  co_await never.Wait();
  co_return http::StreamPart();
}

}  // namespace

FakeApiServer::FakeApiServer(const tls::TlsIdentity* identity) : server_(loop_, router_) {
  for (const auto& [method, name] :
       {std::pair(http::Method::kGet, "GET "), std::pair(http::Method::kPost, "POST "),
        std::pair(http::Method::kDelete, "DELETE ")})
    router_.Add(method, "/{rest=**}",
                [this, name](http::Request& request) { return Play(*this, name, request); });
  auto socket = http::ListenOnTcp("127.0.0.1", 0);
  TY_CHECK(socket.has_value());
  port_ = socket->port;
  if (identity != nullptr)
    TY_CHECK(server_.ListenTls(*std::move(socket), *identity).has_value());
  else
    server_.ListenTcp(*std::move(socket));
  thread_ = std::thread([this] { loop_.run(); });
}

FakeApiServer::~FakeApiServer() {
  boost::asio::post(loop_, [this] { server_.Stop(); });
  thread_.join();
}

void FakeApiServer::Say(const std::string& what, std::deque<Answer> answers) {
  answers_.With([&](auto& all) { all[what] = std::move(answers); });
}

std::vector<FakeApiServer::Asked> FakeApiServer::TakeAsked() {
  return asked_.With([](auto& asked) { return std::exchange(asked, {}); });
}

std::vector<std::string> FakeApiServer::TakeQuestions() {
  std::vector<std::string> questions;
  for (Asked& asked : TakeAsked()) questions.push_back(std::move(asked.what));
  return questions;
}

std::size_t FakeApiServer::connection_count() {
  std::promise<std::size_t> count;
  boost::asio::post(loop_, [&] { count.set_value(server_.connection_count()); });
  return count.get_future().get();
}

http::asio::awaitable<Result<http::Response>> FakeApiServer::Play(FakeApiServer& fake, std::string method,
                                                                  http::Request& request) {
  Asked asked{.what = method + request.target,
              .body = {},
              .authorization = std::string(request.headers.Get("Authorization")),
              .accept = std::string(request.headers.Get("Accept"))};
  TY_CO_TRY(asked.body, co_await request.body->ReadAll(1 << 20));
  const std::string what = asked.what;
  fake.asked_.With([&asked](auto& all) { all.push_back(std::move(asked)); });
  const Answer answer = fake.answers_.With([&what](auto& all) -> Answer {
    const auto found = all.find(what);
    if (found == all.end())
      return {.body = R"({"kind":"Status","reason":"NotFound","message":"not found"})", .status = 404};
    Answer next = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return next;
  });
  http::Response response = http::Response::Json(answer.body, answer.status);
  if (!answer.retry_after.empty()) response.headers.Set("Retry-After", answer.retry_after);
  if (answer.is_endless) {
    auto body = std::make_shared<std::string>(answer.body);
    http::StreamBody stream;
    stream.next = [body] { return OnePartThenNone(body); };
    response.body = std::move(stream);
  }
  co_return response;
}

}  // namespace trainyard::engine
