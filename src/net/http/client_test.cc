#include "net/http/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

#include "base/async/file.h"
#include "net/http/listening_socket.h"
#include "net/http/testing/test_server.h"

namespace trainyard::http {
namespace {

Client MakeClient(const std::string& url) {
  const Result<Endpoint> endpoint = Endpoint::Parse(url);
  EXPECT_TRUE(endpoint) << endpoint.error().message;
  return Client(endpoint.value_or(Endpoint()));
}

ClientRequest Get(std::string target) {
  ClientRequest request;
  request.target = std::move(target);
  return request;
}

ClientRequest Post(std::string target, std::string body) {
  ClientRequest request;
  request.method = Method::kPost;
  request.target = std::move(target);
  request.body = std::move(body);
  return request;
}

struct EndpointRow {
  const char* url;
  const char* authority;  ///< nullptr: refused
};

TEST(Endpoint, Parse) {
  for (const auto& [url, authority] :
       {EndpointRow{"http://localhost:8470", "localhost:8470"}, EndpointRow{"http://localhost", "localhost"},
        EndpointRow{"https://localhost:443/", "localhost"}, EndpointRow{"https://[::1]:8443", "[::1]:8443"},
        EndpointRow{"unix:/run/server.sock", "localhost"}, EndpointRow{"unix:server.sock", nullptr},
        EndpointRow{"localhost:80", nullptr}, EndpointRow{"http://", nullptr},
        EndpointRow{"http://h:0", nullptr}, EndpointRow{"http://h:99999", nullptr},
        EndpointRow{"http://h:x", nullptr}, EndpointRow{"http://h/path", nullptr},
        EndpointRow{"http://u@h", nullptr}}) {
    const Result<Endpoint> endpoint = Endpoint::Parse(url);
    ASSERT_EQ(endpoint.has_value(), authority != nullptr) << url;
    if (endpoint) EXPECT_EQ(endpoint->Authority(), authority) << url;
  }
}

TEST(Client, KeepsItsConnection) {
  TestServer server;
  Client client = MakeClient(server.Url());
  for (int i = 0; i < 3; ++i) {
    const Result<ClientResponse> response = client.Send(Get("/hello"));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "hello");
    EXPECT_EQ(response->headers.Get("content-type"), "text/plain; charset=UTF-8");
  }
  std::size_t connections = 0;
  server.OnLoop([&](Server& used) { connections = used.connection_count(); });
  EXPECT_EQ(connections, 1U);
}

TEST(Client, EveryKindOfBody) {
  TestServer server;
  Client client = MakeClient(server.Url());
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(client.Send(Post("/echo", large))->body, large);
  EXPECT_EQ(client.Send(Get("/empty"))->status, 204);
  EXPECT_EQ(client.Send(Get("/stream"))->body, "part 1\npart 2\npart 3\n");
  EXPECT_EQ(client.Send(Get("/error/5"))->status, 404);
  ClientRequest head = Get("/file/1000");
  head.method = Method::kHead;
  EXPECT_EQ(client.Send(head)->headers.Get("Content-Length"), "1000");
  EXPECT_EQ(client.Send(Get("/hello"))->body, "hello");
}

TEST(Client, UploadsAndDownloadsFiles) {
  TestServer server;
  Client client = MakeClient(server.Url());
  const auto path = server.folder() / "file";
  const std::string contents(300'000, 'f');
  ASSERT_TRUE(WriteFileAtomically(path, "skip" + contents));
  const Result<UniqueFd> file = OpenFile(path, O_RDONLY);
  ASSERT_TRUE(file);
  std::vector<std::uint64_t> progress;
  ClientRequest upload;
  upload.method = Method::kPost;
  upload.target = "/echo";
  upload.body =
      UploadBody{file->get(), 4, contents.size(), [&](std::uint64_t sent) { progress.push_back(sent); }};
  EXPECT_EQ(client.Send(upload)->body, contents);
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back(), contents.size());

  const auto target = server.folder() / "downloaded";
  const Result<UniqueFd> out = OpenFile(target, O_RDWR | O_CREAT);
  ASSERT_TRUE(out);
  ClientRequest download = Get("/file/5000000");
  download.download_descriptor = out->get();
  const Result<ClientResponse> response = client.Send(download);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->downloaded, 5'000'000U);
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(ReadFile(target), std::string(5'000'000, 'f'));
  // The body of an error is not written to the file.
  download.target = "/error/5";
  const Result<ClientResponse> error = client.Send(download);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->downloaded, 0U);
  EXPECT_NE(error->body, "");
}

TEST(Client, TakesAnEarlyRefusalOfAnUpload) {
  TestServer server;
  Client client = MakeClient(server.Url());
  const auto path = server.folder() / "file";
  ASSERT_TRUE(WriteFileAtomically(path, ""));
  std::filesystem::resize_file(path, 200'000'000);
  const Result<UniqueFd> file = OpenFile(path, O_RDONLY);
  ClientRequest upload;
  upload.method = Method::kPost;
  upload.target = "/echo";
  upload.body = UploadBody{file->get(), 0, 200'000'000, {}};
  const Result<ClientResponse> response = client.Send(upload);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(client.Send(Get("/hello"))->body, "hello");
}

TEST(Client, AnUploadHasAnEnd) {
  TestServer server;
  Client client = MakeClient(server.Url());
  const auto path = server.folder() / "file";
  ASSERT_TRUE(WriteFileAtomically(path, "content"));
  const Result<UniqueFd> file = OpenFile(path, O_RDONLY);
  ClientRequest upload;
  upload.method = Method::kPost;
  upload.target = "/echo";
  upload.body = UploadBody{file->get(), 0, 7, {}, std::chrono::steady_clock::now()};
  const Result<ClientResponse> response = client.Send(upload);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kDeadlineExceeded);
}

TEST(Client, ConnectsAnewWhenTheKeptConnectionIsGone) {
  ServerOptions options;
  options.idle_wait_max = std::chrono::milliseconds(1);
  TestServer server(options);
  Client client = MakeClient(server.Url());
  EXPECT_EQ(client.Send(Get("/hello"))->body, "hello");
  std::size_t left = 1;
  while (left > 0) server.OnLoop([&left](Server& used) { left = used.connection_count(); });
  EXPECT_EQ(client.Send(Post("/echo", "x"))->body, "x");
}

TEST(Client, UnixSocketOfAnyPathLength) {
  TestServer server;
  const auto folder = server.folder() / std::string(100, 'a') / std::string(100, 'b');
  std::filesystem::create_directories(folder);
  for (const auto& path : {server.folder() / "short.sock", folder / "long.sock"}) {
    Status listening;
    server.OnLoop([&](Server& used) { listening = used.ListenUnix(path); });
    ASSERT_TRUE(listening) << listening.error().message;
    const auto mode = std::filesystem::status(path).permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    Client client = MakeClient("unix:" + path.string());
    EXPECT_EQ(client.Send(Get("/query"))->body, "0 http://localhost");
    server.OnLoop([&](Server& used) { listening = used.ListenUnix(path); });
    ASSERT_FALSE(listening);
    EXPECT_EQ(listening.error().code, Code::kAlreadyExists);
  }
}

TEST(Client, Upgrade) {
  TestServer server;
  Client client = MakeClient(server.Url());
  Result<Client::Upgraded> upgraded = client.Upgrade("/upgrade", "echo", std::chrono::milliseconds(20'000));
  ASSERT_TRUE(upgraded) << upgraded.error().message;
  ASSERT_TRUE(WriteAll(upgraded->descriptor.get(), "hello"));
  std::array<char, 5> text{};
  EXPECT_EQ(::recv(upgraded->descriptor.get(), text.data(), text.size(), MSG_WAITALL), 5);
  EXPECT_EQ(std::string(text.data(), text.size()), "hello");
  const auto refused = client.Upgrade("/hello", "echo", std::chrono::milliseconds(20'000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
}

TEST(Client, Errors) {
  TestServer server;
  Client client = MakeClient(server.Url());
  ClientRequest small = Get("/file/1000");
  small.response_bytes_max = 999;
  EXPECT_EQ(client.Send(small).error().code, Code::kOutOfRange);
  ClientRequest hurried = Get("/slow");
  hurried.wait_max = std::chrono::milliseconds(10);
  EXPECT_EQ(client.Send(hurried).error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(client.Send(Get("/a b")).error().code, Code::kInvalidArgument);
  ClientRequest smuggling = Get("/hello");
  smuggling.headers.Add("A", "b\r\nC: d");
  EXPECT_EQ(client.Send(smuggling).error().code, Code::kInvalidArgument);
  EXPECT_EQ(MakeClient("unix:/nonexistent/socket").Send(Get("/")).error().code, Code::kNotFound);
}

struct AnswerRow {
  const char* name;
  const char* answer;
  Code code;
};

/// Responds to one connection with fixed bytes.
void AnswerOnce(int listening, std::string answer) {
  const UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  std::array<char, 1000> request{};
  EXPECT_GT(::recv(socket.get(), request.data(), request.size(), 0), 0);
  EXPECT_TRUE(WriteAll(socket.get(), answer));
}

TEST(Client, MalformedAnswers) {
  for (const AnswerRow& row :
       {AnswerRow{"nothing", "", Code::kUnavailable}, AnswerRow{"not_http", "hello\r\n\r\n", Code::kDataLoss},
        AnswerRow{"cut_head", "HTTP/1.1 200 OK\r\nA: b", Code::kDataLoss},
        AnswerRow{"cut_body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Code::kDataLoss},
        AnswerRow{"cut_chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                  Code::kDataLoss},
        AnswerRow{"bad_status", "HTTP/1.1 2x0 OK\r\n\r\n", Code::kDataLoss},
        AnswerRow{"both", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                  Code::kDataLoss}}) {
    Result<ListeningSocket> socket = ListenOnTcp("127.0.0.1", 0);
    ASSERT_TRUE(socket);
    ASSERT_EQ(::fcntl(socket->descriptor.get(), F_SETFL, 0), 0);
    std::thread server(AnswerOnce, socket->descriptor.get(), row.answer);
    Client client = MakeClient("http://127.0.0.1:" + std::to_string(socket->port));
    const auto response = client.Send(Post("/", "x"));
    server.join();
    ASSERT_FALSE(response) << row.name;
    EXPECT_EQ(response.error().code, row.code) << row.name << ": " << response.error().message;
  }
}

/// Sends the bytes and then one more now and then, until the client goes.
void Drip(int listening, const std::string& answer) {
  const UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(WriteAll(socket.get(), answer));
  while (::send(socket.get(), "x", 1, MSG_NOSIGNAL) == 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(Client, AnAnswerThatDripsHasALimit) {
  Result<ListeningSocket> socket = ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  ASSERT_EQ(::fcntl(socket->descriptor.get(), F_SETFL, 0), 0);
  std::jthread server([&] { Drip(socket->descriptor.get(), "HTTP/1.1 200 OK\r\n"); });
  ClientRequest request = Get("/");
  request.response_max = std::chrono::milliseconds(50);
  EXPECT_EQ(MakeClient("http://127.0.0.1:" + std::to_string(socket->port)).Send(request).error().code,
            Code::kDeadlineExceeded);
}

TEST(Client, OnlyTheHeadIsReadOfWhoWantsNoMore) {
  Result<ListeningSocket> socket = ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  ASSERT_EQ(::fcntl(socket->descriptor.get(), F_SETFL, 0), 0);
  std::jthread server(
      [&] { Drip(socket->descriptor.get(), "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n"); });
  ClientRequest request = Get("/");
  request.head_only = true;
  const Result<ClientResponse> response =
      MakeClient("http://127.0.0.1:" + std::to_string(socket->port)).Send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "");
}

TEST(Client, BodyUntilTheConnectionCloses) {
  Result<ListeningSocket> socket = ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  ASSERT_EQ(::fcntl(socket->descriptor.get(), F_SETFL, 0), 0);
  std::thread server(AnswerOnce, socket->descriptor.get(),
                     "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nall of it");
  Client client = MakeClient("http://127.0.0.1:" + std::to_string(socket->port));
  const auto response = client.Send(Get("/"));
  server.join();
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "all of it");
}

}  // namespace
}  // namespace trainyard::http
