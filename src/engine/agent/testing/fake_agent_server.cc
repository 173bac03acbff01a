#include "engine/agent/testing/fake_agent_server.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/async/system_clock.h"
#include "base/async/unix_socket.h"
#include "base/check.h"
#include "base/tls/certificate.h"
#include "net/http/transport.h"
#include "net/mux/pump.h"

namespace trainyard::agent {

namespace asio = boost::asio;

struct FakeAgentServer::Peer {
  std::unique_ptr<mux::Session> session;
  std::shared_ptr<mux::Stream> control;

  void Send(const v1::ToAgent& frame, TaskGroup& tasks) {
    replica::AppendFrame(frame, queued);
    if (!std::exchange(writing, true)) tasks.Spawn(Write(this));
  }
  static asio::awaitable<void> Write(Peer* peer) {
    while (!peer->queued.empty()) {
      const std::string bytes = std::exchange(peer->queued, {});
      if (!co_await peer->control->Write(bytes)) co_return;
    }
    peer->writing = false;
  }

  std::string queued;
  bool writing = false;
};

FakeAgentServer::FakeAgentServer(std::string led_to)
    : led_to_(std::move(led_to)),
      tls_(asio::ssl::context::tls_server),
      acceptor_(loop_, {asio::ip::make_address("127.0.0.1"), 0}),
      port_(acceptor_.local_endpoint().port()),
      tasks_(std::in_place, loop_.get_executor()) {
  const SysTime now = SystemClock().Now();
  const auto authority = tls::MakeAuthority(now, std::chrono::days(2));
  TY_CHECK(authority);
  const auto own = tls::MakeServerCertificate(*authority, {"elsewhere"}, now, std::chrono::days(1));
  TY_CHECK(own);
  fingerprint_ = tls::Fingerprint(authority->certificate.get());
  authority_ = *tls::PrintCertificate(authority->certificate);
  const std::string chain = *tls::PrintCertificate(own->certificate) + authority_;
  tls_.use_certificate_chain(asio::buffer(chain));
  tls_.use_private_key(asio::buffer(*tls::PrintPrivateKey(own->key)), asio::ssl::context::pem);
  greet_ = [](const v1::FromAgent::Hello&) {
    v1::ToAgent frame;
    frame.mutable_welcome();
    return frame;
  };
  tasks_->Spawn(Accept());
  thread_ = std::thread([this] { loop_.run(); });
}

FakeAgentServer::~FakeAgentServer() {
  loop_.stop();
  thread_.join();
  for (const auto& peer : peers_) peer->session->Close();
  tasks_.reset();
}

void FakeAgentServer::SetGreet(Greet greet) {
  const std::scoped_lock lock(mutex_);
  greet_ = std::move(greet);
}

void FakeAgentServer::Remember(const std::function<void(Memory&)>& change) {
  const std::scoped_lock lock(mutex_);
  change(memory_);
  changed_.notify_all();
}

asio::awaitable<void> FakeAgentServer::Accept() {
  for (;;) {
    asio::ip::tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
    Remember([](Memory& memory) { ++memory.connections; });
    tasks_->Spawn(Serve(std::move(socket)));
  }
}

asio::awaitable<void> FakeAgentServer::Serve(asio::ip::tcp::socket socket) {
  auto transport = http::MakeTlsTransport(http::StreamSocket(std::move(socket)), tls_);
  if (!co_await transport->Handshake()) co_return;
  const auto peer = std::make_shared<Peer>();
  mux::Session::Options options;
  options.on_stream = [this, peer = peer.get()](std::string path, std::shared_ptr<mux::Stream> stream) {
    for (const auto& known : peers_)
      if (known.get() == peer) tasks_->Spawn(TakeStream(known, std::move(path), std::move(stream)));
  };
  peer->session = std::make_unique<mux::Session>(loop_.get_executor(), std::move(transport),
                                                 mux::Session::Side::kIsOpened, std::move(options));
  peers_.push_back(peer);
  co_await peer->session->Run();
}

asio::awaitable<void> FakeAgentServer::TakeStream(std::shared_ptr<Peer> peer, std::string path,
                                                  std::shared_ptr<mux::Stream> stream) {
  if (path == "/agent/v1/control") co_return co_await TakeFrames(std::move(peer), std::move(stream));
  Remember([&path](Memory& memory) { memory.paths.push_back(path); });
  if (path.starts_with("/agent/v1/terminal/")) co_return co_await TakeTerminal(std::move(stream));
  Result<UniqueFd> end = ConnectUnix(led_to_, SOCK_NONBLOCK);
  if (end) co_await mux::Pump(std::move(stream), *std::move(end));
}

asio::awaitable<void> FakeAgentServer::TakeTerminal(std::shared_ptr<mux::Stream> stream) {
  terminal_ = stream;
  std::vector<char> buffer(1000);
  for (;;) {
    const Result<std::size_t> size = co_await stream->Read(buffer);
    if (!size || *size == 0) break;
    Remember([&](Memory& memory) { memory.shown.append(buffer.data(), *size); });
  }
  Remember([](Memory& memory) { ++memory.terminals_ended; });
}

asio::awaitable<void> FakeAgentServer::TypeInto(std::shared_ptr<mux::Stream> stream, std::string text) {
  (void)co_await stream->Write(text);
}

void FakeAgentServer::Type(std::string text) {
  asio::post(loop_, [this, text = std::move(text)] {
    if (terminal_) tasks_->Spawn(TypeInto(terminal_, text));
  });
}

asio::awaitable<void> FakeAgentServer::TakeFrames(std::shared_ptr<Peer> peer,
                                                  std::shared_ptr<mux::Stream> stream) {
  peer->control = stream;
  replica::FrameReader reader;
  std::vector<char> buffer(std::size_t{64} << 10);
  for (;;) {
    std::string_view content;
    while (reader.Next(content).value_or(false)) {
      v1::FromAgent frame;
      TY_CHECK(frame.ParseFromArray(content.data(), static_cast<int>(content.size())));
      if (!frame.has_hello()) {
        Remember([&frame](Memory& memory) { memory.frames.push_back(frame); });
        continue;
      }
      Greet greet;
      Remember([&](Memory& memory) {
        memory.hellos.push_back(frame.hello());
        greet = greet_;
      });
      peer->Send(greet(frame.hello()), *tasks_);
    }
    const Result<std::size_t> size = co_await stream->Read(buffer);
    if (!size) co_return;
    if (*size == 0) break;
    reader.Feed({buffer.data(), *size});
  }
  peer->session->Close();
}

void FakeAgentServer::Send(v1::ToAgent frame) {
  asio::post(loop_, [this, frame = std::move(frame)] {
    if (!peers_.empty() && peers_.back()->control) peers_.back()->Send(frame, *tasks_);
  });
}

std::vector<v1::FromAgent::Answer> FakeAgentServer::Ask(v1::ToAgent::Request request) {
  request.set_request(next_request_++);
  v1::ToAgent frame;
  *frame.mutable_request() = request;
  Send(std::move(frame));
  std::vector<v1::FromAgent::Answer> answers;
  (void)WaitFor([&](const Memory& memory) {
    answers.clear();
    for (const v1::FromAgent& one : memory.frames)
      if (one.answer().request() == request.request()) answers.push_back(one.answer());
    return !answers.empty() &&
           (!request.has_collect() || answers.back().last() || answers.back().code() != 0);
  });
  return answers;
}

void FakeAgentServer::Cut() {
  asio::post(loop_, [this] {
    for (const auto& peer : peers_) peer->session->Close();
  });
}

bool FakeAgentServer::WaitFor(const std::function<bool(const Memory&)>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return condition(memory_); });
}

}  // namespace trainyard::agent
