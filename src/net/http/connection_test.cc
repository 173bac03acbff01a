#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "net/http/testing/test_server.h"

/// Conversations byte for byte: the bytes sent on one connection, and all bytes received until the server
/// closes it.
namespace trainyard::http {
namespace {

std::string Text(std::string_view body, std::string_view fields = "") {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

/// The status of each response, with "!" before one that closes the connection.
std::string Summary(std::string_view answers) {
  std::string summary;
  while (true) {
    const std::size_t start = answers.find("HTTP/1.1 ");
    if (start == std::string_view::npos) return summary;
    answers.remove_prefix(start + 9);
    if (answers.empty() || answers[0] < '1' || answers[0] > '5')
      continue;  // a message that names the version
    const std::string_view head = answers.substr(0, answers.find("\r\n\r\n"));
    if (!summary.empty()) summary += " ";
    if (head.find("Connection: close") != std::string_view::npos) summary += "!";
    summary += answers.substr(0, 3);
  }
}

std::string Converse(std::uint16_t port, std::string_view bytes) {
  RawClient client(port);
  client.Send(bytes);
  client.ShutdownWrite();
  return client.ReadToEnd();
}

constexpr const char* kGet = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kHello = Text("hello");
const std::string kHelloClose = Text("hello", "Connection: close\r\n");

struct ExactRow {
  const char* name;
  std::string sent;
  std::string answer;
};

std::vector<ExactRow> ExactRows() {
  const std::string get = kGet;
  return {
      {"one", get, kHello},
      {"pipelined", get + get + "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get,
       kHello + kHello + Text("abc") + kHello},
      {"close", "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + get, kHelloClose},
      {"http_1_0", "GET /hello HTTP/1.0\r\n\r\n", kHelloClose},
      {"http_1_0_keep_alive", "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       Text("hello", "Connection: keep-alive\r\n")},
      {"empty_lines_before", "\r\n\r\n" + get, kHello},
      {"absolute_form", "GET http://h/hello HTTP/1.1\r\nHost: h\r\n\r\n", kHello},
      {"absolute_forms_host_counts", "GET http://other:1/query HTTP/1.1\r\nHost: h\r\n\r\n",
       Text("0 http://other:1")},
      {"head", "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n" + get,
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: 5\r\n\r\n" + kHello},
      {"no_content", "GET /empty HTTP/1.1\r\nHost: h\r\n\r\n" + get,
       "HTTP/1.1 204 No Content\r\n\r\n" + kHello},
      {"chunked",
       "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
       "chunked\r\n\r\n3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: "
       "t\r\n\r\n" +
           get,
       Text("abc0123456789") + kHello},
      {"continue", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
       Text("abc")},
      {"stream", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npart 1\n\r\n7\r\npart 2\n\r\n7\r\npart "
       "3\n\r\n0\r\n\r\n"},
      {"stream_http_1_0", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
       "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart 1\npart 2\npart 3\n"},
      {"unread_body_is_dropped", "POST /ignore HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get,
       Text("ignored") + kHello},
      {"upgrade",
       "GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly bytes",
       "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly bytes"},
      {"query", "GET /query?a=1&b=%20x+y&c HTTP/1.1\r\nHost: h:1\r\n\r\n",
       Text("0 http://h:1 a=1 b= x y c=")},
      {"method_override",
       "POST /query?a=1 HTTP/1.1\r\nHost: h\r\nX-HTTP-Method-Override: GET\r\nContent-Type: "
       "application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\nb=%32",
       Text("0 http://h a=1 b=2")},
      {"value_cannot_end_the_head", "GET /header/a%0D%0AX-Evil:%201 HTTP/1.1\r\nHost: h\r\n\r\n",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nX-Value: a  X-Evil: "
       "1\r\nContent-Length: 1\r\n\r\nx"},
  };
}

TEST(Connection, AnswersExactly) {
  const TestServer server;
  for (const ExactRow& row : ExactRows())
    EXPECT_EQ(Converse(server.port(), row.sent), row.answer) << row.name;
}

TEST(Connection, AnswersTheSameHoweverTheBytesAreCut) {
  const TestServer server;
  for (const ExactRow& row : ExactRows()) {
    for (std::size_t cut = 1; cut < row.sent.size(); ++cut) {
      if (row.name == std::string("continue")) continue;  // a cut before the body earns an extra 100
      RawClient client(server.port());
      client.Send(std::string_view(row.sent).substr(0, cut));
      client.Send(std::string_view(row.sent).substr(cut));
      client.ShutdownWrite();
      ASSERT_EQ(client.ReadToEnd(), row.answer) << row.name << " cut at " << cut;
    }
  }
}

TEST(Connection, AnswersTheSameForRandomCuts) {
  const TestServer server;
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::string sent;
    std::string expected;
    const auto rows = ExactRows();
    for (int i = 0; i < 10; ++i) {
      const ExactRow& row = rows[random() % rows.size()];
      if (row.answer.find("Connection: close") != std::string::npos || row.answer.starts_with("HTTP/1.1 101"))
        continue;
      if (row.name == std::string("continue")) continue;
      sent += row.sent;
      expected += row.answer;
    }
    RawClient client(server.port());
    std::string_view left = sent;
    while (!left.empty()) {
      const std::size_t count = std::min<std::size_t>(left.size(), 1 + random() % 200);
      client.Send(left.substr(0, count));
      left.remove_prefix(count);
    }
    client.ShutdownWrite();
    ASSERT_EQ(client.ReadToEnd(), expected);
  }
}

struct StatusRow {
  const char* name;
  std::string sent;
  const char* statuses;
};

const std::string kPost = "POST /echo HTTP/1.1\r\nHost: h\r\n";

/// Request smuggling. A refused request ends the connection: bytes after it are never treated as a request.
std::vector<StatusRow> SmugglingRows() {
  const std::string get = kGet;
  const std::string post = kPost;
  return {
      {"length_and_chunked", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get,
       "!400"},
      {"chunked_and_length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + get,
       "!400"},
      {"two_lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef" + get, "!400"},
      {"length_list", post + "Content-Length: 5, 6\r\n\r\nabcdef" + get, "!400"},
      {"negative_length", post + "Content-Length: -1\r\n\r\n" + get, "!400"},
      {"plus_length", post + "Content-Length: +3\r\n\r\nabc" + get, "!400"},
      {"huge_length", post + "Content-Length: 99999999999999999999999\r\n\r\n", "!400"},
      {"length_beyond_limit", post + "Content-Length: 999999999999999999\r\n\r\n", "!413"},
      {"unknown_coding", post + "Transfer-Encoding: gzip\r\n\r\n" + get, "!501"},
      {"chunked_not_last", post + "Transfer-Encoding: chunked, identity\r\n\r\n" + get, "!501"},
      {"chunked_twice",
       post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get, "!400"},
      {"tabbed_chunked",
       post +
           "Transfer-Encoding: \x0b"
           "chunked\r\n\r\n0\r\n\r\n" +
           get,
       "!400"},
      {"chunked_in_1_0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "!400"},
      {"folded_field", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n" + get, "!400"},
      {"space_before_colon", "GET /hello HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n" + get, "!400"},
      {"bare_lf", "GET /hello HTTP/1.1\nHost: h\n\n" + get, "!400"},
      {"bare_lf_in_field", "GET /hello HTTP/1.1\r\nHost: h\nA: b\r\n\r\n" + get, "!400"},
      {"bare_cr_in_field", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n" + get, "!400"},
      {"nul_in_field", "GET /hello HTTP/1.1\r\nHost: h\r\nA: b" + std::string(1, '\0') + "\r\n\r\n" + get,
       "!400"},
      {"no_host", "GET /hello HTTP/1.1\r\n\r\n" + get, "!400"},
      {"two_hosts", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + get, "!400"},
      {"same_length_twice", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + get, "200 200"},
  };
}

std::vector<StatusRow> MalformedHeadRows() {
  const std::string get = kGet;
  const std::string post = kPost;
  return {
      {"not_http", "hello\r\n\r\n", "!400"},
      {"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "!505"},
      {"http_0_9", "GET /hello\r\n\r\n", "!400"},
      {"two_spaces", "GET  /hello HTTP/1.1\r\nHost: h\r\n\r\n", "!400"},
      {"unknown_method", "BREW /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + get, "405 200"},
      {"unknown_expectation", post + "Expect: miracles\r\nContent-Length: 1\r\n\r\na", "!417"},
      {"unknown_content_coding", post + "Content-Encoding: br\r\nContent-Length: 1\r\n\r\na" + get,
       "415 200"},
      {"bad_percent", "GET /query?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n" + get, "400 200"},
      {"bad_percent_in_path", "GET /error/%0 HTTP/1.1\r\nHost: h\r\n\r\n" + get, "400 200"},
      {"cut_head", "GET /hello HTTP/1.1\r\nHost: h\r\n", "!400"},
      {"field_too_large", "GET /hello HTTP/1.1\r\nHost: h\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n",
       "!431"},
      {"line_too_large", "GET /" + std::string(70'000, 'a'), "!431"},
  };
}

std::vector<StatusRow> BodyRows() {
  const std::string get = kGet;
  const std::string post = kPost;
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  return {
      {"cut_body", post + "Content-Length: 10\r\n\r\nabc", "!400"},
      {"cut_chunk", chunked + "5\r\nabc", "!400"},
      {"cut_before_last_chunk", chunked + "3\r\nabc\r\n", "!400"},
      {"bad_chunk_size", chunked + "xyz\r\nabc\r\n0\r\n\r\n" + get, "!400"},
      {"chunk_size_with_sign", chunked + "+3\r\nabc\r\n0\r\n\r\n" + get, "!400"},
      {"chunk_size_overflow", chunked + "ffffffffffffffff1\r\nabc\r\n0\r\n\r\n" + get, "!400"},
      {"chunk_without_end", chunked + "3\r\nabcd\r\n0\r\n\r\n" + get, "!400"},
      {"chunk_with_bare_lf", chunked + "3\nabc\n0\n\n" + get, "!400"},
      {"echo_too_large", post + "Content-Length: 20000000\r\n\r\n" + std::string(20'000'000, 'a'), "!413"},
      {"unread_large_body", "POST /ignore HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n", "!200"},
      {"unread_body_behind_expect",
       "POST /ignore HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", "!200"},
      {"expect_of_1_0_is_ignored",
       "POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", "!200"},
  };
}

/// The application's responses leave the connection usable.
std::vector<StatusRow> ApplicationRows() {
  const std::string get = kGet;
  return {
      {"not_found", "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n" + get, "404 200"},
      {"method_not_allowed", "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n" + get, "405 200"},
      {"exception", "GET /throw HTTP/1.1\r\nHost: h\r\n\r\n" + get, "500 200"},
      {"error", "GET /error/9 HTTP/1.1\r\nHost: h\r\n\r\n" + get, "400 200"},
  };
}

TEST(Connection, SaysWhichMethodsAPathHas) {
  const TestServer server;
  const std::string answer = Converse(server.port(), "DELETE /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(answer.find("\r\nAllow: GET, HEAD\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\"code\": 405"), std::string::npos) << answer;
}

TEST(Connection, ABodySaysTheStatusOfItsHead) {
  const TestServer server;
  const std::string answer = Converse(server.port(), "GET /hello HTTP/2.0\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 505 ")) << answer;
  EXPECT_NE(answer.find("\"code\": 505"), std::string::npos) << answer;
}

TEST(Connection, RefusesWithTheRightStatus) {
  const TestServer server;
  for (const auto& rows : {SmugglingRows(), MalformedHeadRows(), BodyRows(), ApplicationRows()}) {
    for (const StatusRow& row : rows) {
      const std::string answer = Converse(server.port(), row.sent);
      EXPECT_EQ(Summary(answer), row.statuses) << row.name << ": " << answer.substr(0, 300);
      EXPECT_EQ(answer.find("(reset)"), std::string::npos) << row.name;
    }
  }
}

TEST(Connection, AMalformedHostIsRefused) {
  const TestServer server;
  for (const char* request :
       {"GET /hello HTTP/1.1\r\nHost: h\tx\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: u@h\r\n\r\n",
        "GET http://u@h/hello HTTP/1.1\r\nHost: h\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: h:x\r\n\r\n"})
    EXPECT_TRUE(Converse(server.port(), request).starts_with("HTTP/1.1 400 ")) << request;
}

TEST(Connection, ErrorsAreGoogleRpcStatus) {
  const TestServer server;
  const std::string answer = Converse(server.port(), "GET /error/5 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(Summary(answer), "404");
  EXPECT_NE(answer.find("\"status\": \"NOT_FOUND\""), std::string::npos) << answer;
}

TEST(Connection, TensorFlowsFrontTakesChunkedWithLength) {
  const TestServer server({}, FramingRules::kChunkedWins);
  const std::string put =
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const std::string first =
      "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(Converse(server.port(), put + first), Text("abc") + Text(""));
}

TEST(Connection, ContinueIsSentWhenTheHandlerReads) {
  const TestServer server;
  RawClient client(server.port());
  client.Send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("abc");
  client.ShutdownWrite();
  EXPECT_EQ(client.ReadToEnd(), Text("abc"));
}

TEST(Connection, SlowHeadIsAnswered408) {
  ServerOptions options;
  options.head_wait_max = std::chrono::milliseconds(500);  // without a byte it closes without a response
  const TestServer server(options);
  RawClient client(server.port());
  client.Send("GET /hello HT");
  EXPECT_EQ(Summary(client.ReadToEnd()), "!408");
}

TEST(Connection, ABodyThatComesTooSlowlyIsAnswered408) {
  ServerOptions options;
  options.body_window = std::chrono::milliseconds(20);
  options.body_window_bytes_min = 1'000'000;
  TestServer server(options);
  RawClient client(server.port());
  client.Send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n");
  client.ReadUntil("100 Continue\r\n\r\n");
  for (int byte = 0; byte < 3; ++byte) {  // the server's wait starts a little later than ours
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < options.body_window) {
    }
    client.Send("x");
  }
  EXPECT_EQ(client.ReadToEnd().substr(0, 12), "HTTP/1.1 408");
}

TEST(Connection, SlowBodyIsAnswered408) {
  ServerOptions options;
  options.body_wait_max = std::chrono::milliseconds(20);
  const TestServer server(options);
  RawClient client(server.port());
  client.Send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\na");
  EXPECT_EQ(Summary(client.ReadToEnd()), "!408");
}

TEST(Connection, IdleConnectionsAreClosedSilently) {
  ServerOptions options;
  options.idle_wait_max = std::chrono::milliseconds(20);
  const TestServer server(options);
  RawClient client(server.port());
  client.Send(kGet);
  EXPECT_EQ(client.ReadToEnd(), kHello);
}

TEST(Connection, ClientThatDoesNotReadIsClosed) {
  ServerOptions options;
  options.write_wait_max = std::chrono::milliseconds(20);
  TestServer server(options);
  RawClient client(server.port());
  client.Send("GET /file/50000000 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n").substr(0, 12), "HTTP/1.1 200");
  std::size_t left = 1;
  while (left > 0) server.OnLoop([&left](Server& used) { left = used.connection_count(); });
}

}  // namespace
}  // namespace trainyard::http
