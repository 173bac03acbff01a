#include "net/http/head.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "net/http/text.h"

namespace trainyard::http {
namespace {

TEST(HeadScanner, FindsTheSameEndHoweverBytesArrive) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n\r\nrest\r\n\r\n";
  const std::size_t end = bytes.find("rest");
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    HeadScanner scanner;
    const auto early = scanner.Scan(std::string_view(bytes).substr(0, first));
    ASSERT_TRUE(early);
    EXPECT_EQ(early->has_value(), first >= end) << first;
    if (!*early) EXPECT_EQ(*scanner.Scan(bytes), end) << first;
  }
}

TEST(RequestHead, IsTakenApart) {
  const auto head = ParseRequestHead("PUT /a?b HTTP/1.0\r\nA:b\r\nc: \t d e \t\r\nEmpty:\r\n\r\n");
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(head->method, "PUT");
  EXPECT_EQ(head->target, "/a?b");
  EXPECT_EQ(head->minor_version, 0);
  EXPECT_EQ(head->headers.Get("a"), "b");
  EXPECT_EQ(head->headers.Get("C"), "d e");
  EXPECT_TRUE(head->headers.Has("empty"));
  EXPECT_EQ(head->headers.Get("empty"), "");
}

TEST(RequestHead, FieldsAreBounded) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 300; ++i) text += "A: b\r\n";
  EXPECT_EQ(ParseRequestHead(text + "\r\n").error().status, 431);
}

TEST(RequestHead, WhatIsTakenFromRandomBytesIsWellFormed) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string alphabet = "ab:,; \t\r\n\x80\x7f\x01-()/";
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
    const std::size_t size = random() % 12;
    for (std::size_t i = 0; i < size; ++i) text.push_back(alphabet[random() % alphabet.size()]);
    const auto head = ParseRequestHead(text + "\r\n\r\n");
    if (!head) continue;
    ++taken;
    for (const auto& [name, value] : head->headers.fields()) {
      ASSERT_TRUE(IsToken(name) && IsFieldValue(value) && Trim(value) == value) << text;
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(Framing, ConnectionOptions) {
  const auto keep_alive = [](const char* line, const char* fields) {
    const auto head = ParseRequestHead(std::string("GET / ") + line + "\r\nHost: h\r\n" + fields + "\r\n");
    return RequestFraming(*head, FramingRules::kStrict)->keep_alive;
  };
  EXPECT_TRUE(keep_alive("HTTP/1.1", ""));
  EXPECT_FALSE(keep_alive("HTTP/1.1", "Connection: foo, Close\r\n"));
  EXPECT_FALSE(keep_alive("HTTP/1.0", ""));
  EXPECT_TRUE(keep_alive("HTTP/1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keep_alive("HTTP/1.0", "Connection: Keep-Alive\r\nConnection: close\r\n"));
}

TEST(AcceptsGzip, Table) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("deflate, GZIP;q=0.5"));
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_FALSE(AcceptsGzip("identity"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("gzip; q=0.000"));
  EXPECT_TRUE(AcceptsGzip("gzip; q=0.001"));
}

}  // namespace
}  // namespace trainyard::http
